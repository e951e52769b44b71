/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/enip/names.c - names of EtherNet/IP's and CIP's numbers in records (ODVA), as Suricata
 * writes them. */
#include "app/proto/enip/enip.h"

#include "app/proto/enip/vendors.h"

/* All tables are ordered by number: NAMED_NUMBER searches by halves. First: types of devices. */
static const struct named_number devices[] = {
    { 0, "Generic Device (deprecated)" }, { 1, "Control Station (deprecated)" },
    { 2, "AC Drive Device" }, { 3, "Motor Overload" }, { 4, "Limit Switch" },
    { 5, "Inductive Proximity Switch" }, { 6, "Photoelectric Sensor" },
    { 7, "General Purpose Discrete I/O" }, { 8, "Encoder (deprecated)" }, { 9, "Resolver" },
    { 10, "General Purpose Analog I/O (deprecated)" }, { 12, "Communications Adapter" },
    { 13, "Barcode Scanner (deprecated)" }, { 14, "Programmable Logic Controller" },
    { 16, "Position Controller" }, { 17, "Weigh Scale (deprecated)" },
    { 18, "Message Display (deprecated)" }, { 19, "DC Drive" }, { 20, "Servo Drives (deprecated)" },
    { 21, "Contactor" }, { 22, "Motor Starter" }, { 23, "Softstart Starter" },
    { 24, "Human-Machine Interface" }, { 25, "Pneumatic Valve(s) (deprecated)" },
    { 26, "Mass Flow Controller" }, { 27, "Pneumatic Valve(s)" }, { 28, "Vacuum Pressure Gauge" },
    { 29, "Process Control Value" }, { 30, "Residual Gas Analyzer" }, { 31, "DC Power Generator" },
    { 32, "RF Power Generator" }, { 33, "Turbomolecular Vacuum Pump" }, { 34, "Encoder" },
    { 35, "Safety Discrete I/O Device" }, { 36, "Fluid Flow Controller" },
    { 37, "CIP Motion Drive" }, { 38, "CompoNet Repeater" },
    { 39, "Mass Flow Controller Enhanced" }, { 40, "CIP Modbus Device" },
    { 41, "CIP Modbus Translator" }, { 42, "Safety Analog I/O Device" },
    { 43, "Generic Device (keyable)" }, { 44, "Managed Ethernet Switch" },
    { 45, "CIP Motion Safety Drive Device" }, { 46, "Safety Drive Device" },
    { 47, "CIP Motion Encoder" }, { 48, "CIP Motion Converter" }, { 49, "CIP Motion I/O" },
    { 50, "ControlNet Physical Layer Component" }, { 100, "In-Sight 2000 Series" },
    { 150, "PowerFlex 525" }, { 200, "Embedded Component" }, { 773, "DataMan Series Reader" },
};
/* From 0x4b on, services belong to single classes. */
static const struct named_number services[] = {
    { 1, "Get Attributes All" }, { 2, "Set Attributes All" }, { 3, "Get Attribute List" },
    { 4, "Set Attribute List" }, { 5, "Reset" }, { 6, "Start" }, { 7, "Stop" }, { 8, "Create" },
    { 9, "Delete" }, { 10, "Multiple Service Packet" }, { 13, "Apply Attributes" },
    { 14, "Get Attributes Single" }, { 16, "Set Attributes Single" },
    { 17, "Find Next Object Instance" }, { 21, "Restore" }, { 22, "Save" },
    { 23, "No Forward Open" }, { 24, "Get Member" }, { 25, "Set Member" }, { 26, "Insert Member" },
    { 27, "Remove Member" }, { 28, "Group Sync" }, { 29, "Get Connection Point Member List" },
    { 75, "Execute PCCC Service" }, { 76, "Read Data" }, { 77, "Write Data" },
    { 78, "Read Write Modify Data" }, { 82, "Read Data Fragmented" },
    { 83, "Write Data Fragmented" }, { 84, "Forward Open" },
};
/* General status (volume 1, appendix B). */
static const struct named_number statuses[] = {
    { 0, "Success" }, { 1, "Connection Failure" }, { 2, "Resource Unavailable" },
    { 3, "Invalid Parameter Value" }, { 4, "Path Segment Error" },
    { 5, "Path Destination Unknown" }, { 6, "Partial Transfer" }, { 7, "Connection Lost" },
    { 8, "Service Not Supported" }, { 9, "Invalid Attribute Value" },
    { 10, "Attribute List Error" }, { 11, "Already In Requested Mode/State" },
    { 12, "Object State Conflict" }, { 13, "Object Already Exists" },
    { 14, "Attribute Not Settable" }, { 15, "Privilege Violation" },
    { 16, "Device State Conflict" }, { 17, "Reply Data Too Large" },
    { 18, "Fragmentation Of A Primitive Value" }, { 19, "Not Enough Data" },
    { 20, "Attribute Not Supported" }, { 21, "Too Much Data" }, { 22, "Object Does Not Exist" },
    { 23, "Service Fragmentation Sequence Not In Progress" }, { 24, "No Stored Attribute Data" },
    { 25, "Store Operation Failure" }, { 26, "Routing Failure, Request Packet Too Large" },
    { 27, "Routing Failure, Response Packet Too Large" },
    { 28, "Missing Attribute List Entry Data" }, { 29, "Invalid Attribute Value List" },
    { 30, "Embedded Service Error" }, { 31, "Vendor Specific Error" }, { 32, "Invalid Parameter" },
    { 33, "Write-Once Value Or Medium Already Written" }, { 34, "Invalid Reply Received" },
    { 35, "Buffer Overflow" }, { 36, "Invalid Message Format" }, { 37, "Key Failure In Path" },
    { 38, "Path Size Invalid" }, { 39, "Unexpected Attribute In List" },
    { 40, "Invalid Member ID" }, { 41, "Member Not Settable" },
    { 42, "Group 2 Only Server General Failure" }, { 43, "Unknown Modbus Error" },
    { 44, "Attribute Not Gettable" }, { 255, "Still Processing" },
};
/* Extended status of the connection manager. */
static const struct named_number extended[] = {
    { 256, "Connection in use or duplicate Forward Open" },
    { 259, "Transport class and trigger combination not supported" }, { 262, "Ownership conflict" },
    { 263, "Target connection not found" }, { 264, "Invalid network connection parameter" },
    { 265, "Invalid connection size" }, { 272, "Target for connection not configured" },
    { 273, "RPI not supported" }, { 274, "RPI value(s) not acceptable" },
    { 275, "Out of connections" }, { 276, "Vendor ID or product code mismatch" },
    { 277, "Device type mismatch" }, { 278, "Revision mismatch" },
    { 279, "Invalid produced or consumed application path" },
    { 280, "Invalid or inconsistent configuration application path" },
    { 281, "Non-listen only connection not opened" }, { 282, "Target object out of connections" },
    { 283, "RPI is smaller than the production inhibit time" },
    { 284, "Transport class not supported" }, { 285, "Production trigger not supported" },
    { 286, "Direction not supported" }, { 287, "Invalid O->T Fixed/Variable" },
    { 288, "Invalid T->O Fixed/Variable" }, { 289, "Invalid O->T Priority" },
    { 290, "Invalid T->O Priority" }, { 291, "Invalid O->T connection type" },
    { 292, "Invalid T->O connection type" }, { 293, "Invalid O->T redundant owner" },
    { 294, "Invalid configuration size" }, { 295, "Invalid O->T size" },
    { 296, "Invalid T->O size" }, { 297, "Invalid configuration application path" },
    { 298, "Invalid consuming application path" }, { 299, "Invalid producing application path" },
    { 300, "Configuration symbol does not exist" }, { 301, "Consuming symbol does not exist" },
    { 302, "Producing symbol does not exist" },
    { 303, "Inconsistent application path combination" },
    { 304, "Inconsistent consume data format" }, { 305, "Inconsistent produce data format" },
    { 306, "NULL ForwardOpen not supported" }, { 515, "Connection timed out" },
    { 516, "Unconnected request timed out" }, { 517, "Parameter error in unconnected request" },
    { 518, "Message too large for UnconnectedSend" },
    { 519, "Unconnected acknowledged without reply" }, { 769, "No buffer memory available" },
    { 770, "Network bandwidth not available for data" },
    { 771, "No consumed connection ID filter available" },
    { 772, "Not configured to send scheduled priority data" },
    { 773, "Schedule signature mismatch" }, { 774, "Schedule signature validation not possible" },
    { 785, "Port not available" }, { 786, "Link address not valid" },
    { 789, "Invalid segment in connection path" }, { 790, "ForwardClose connection path mismatch" },
    { 791, "Scheduling not specified" }, { 792, "Link address to self invalid" },
    { 793, "Secondary resources unavailable" }, { 794, "Rack connection already established" },
    { 795, "Module connection already established" }, { 796, "Miscellaneous" },
    { 797, "Redundant connection mismatch" },
    { 798, "No more user configurable link consumer resources available in the producing module" },
    { 799, "No more user configurable link consumer resources configured in the producing module" },
    { 2048, "Network link offline" }, { 2049, "Incompatible Multicast RPI" },
    { 2050, "Invalid Safety Connection Size" }, { 2051, "Invalid Safety Connection Format" },
    { 2052, "Invalid Time Correction Connection Parameters" },
    { 2053, "Invalid Ping Interval EPI Multiplier" },
    { 2054, "Time Coordination Msg Min Multiplier" },
    { 2055, "Network Time Expectation Multiplier" }, { 2056, "Timeout Multiplier" },
    { 2057, "Invalid Max Consumer Number" }, { 2058, "Invalid CPCRC" },
    { 2059, "Time Correction Connection ID Invalid" }, { 2060, "SCID Mismatch" },
    { 2061, "TUNID not set" }, { 2062, "TUNID Mismatch" },
    { 2063, "Configuration operation not allowed" },
    { 2064, "No target application data available" },
    { 2065, "No originator application data available" },
    { 2066, "Node address has changed since the network was scheduled" },
    { 2067, "Not configured for off-subnet multicast" },
    { 2068, "Invalid produce/consume data format" },
};
/* Object classes. */
static const struct named_number classes[] = {
    { 0, "" }, { 1, "Identity" }, { 2, "Message Router" }, { 3, "DeviceNet" }, { 4, "Assembly" },
    { 5, "Connection" }, { 6, "Connection Manager" }, { 7, "Register" },
    { 8, "Discrete Input Point" }, { 9, "Discrete Output Point" }, { 10, "Analog Input Point" },
    { 11, "Analog Output Point" }, { 14, "Presence Sensing" }, { 15, "Parameter" },
    { 16, "Parameter Group" }, { 18, "Group" }, { 29, "Discrete Input Group" },
    { 30, "Discrete Output Group" }, { 31, "Discrete Group" }, { 32, "Analog Input Group" },
    { 33, "Analog Output Group" }, { 34, "Analog Group" }, { 35, "Position Sensor" },
    { 36, "Position Controller Supervisor" }, { 37, "Position Controller" },
    { 38, "Block Sequencer" }, { 39, "Command Block" }, { 40, "Motor Data" },
    { 41, "Control Supervisor" }, { 42, "AC/DC Drive" }, { 43, "Acknowledge Handler" },
    { 44, "Overload" }, { 45, "Softstart" }, { 46, "Selection" }, { 48, "S-Device Supervisor" },
    { 49, "S-Analog Sensor" }, { 50, "S-Analog Actuator" }, { 51, "S-Single Stage Controller" },
    { 52, "S-Gas Calibration" }, { 53, "Trip Point" }, { 55, "File" }, { 56, "S-Partial Pressure" },
    { 57, "Safety Supervisor" }, { 58, "Safety Validator" }, { 59, "Safety Discrete Output Point" },
    { 60, "Safety Discrete Output Group" }, { 61, "Safety Discrete Input Point" },
    { 62, "Safety Discrete Input Group" }, { 63, "Safety Dual Channel Output" },
    { 64, "S-Sensor Calibration" }, { 65, "Event Log" }, { 66, "Motion Device Axis" },
    { 67, "Time Sync" }, { 68, "Modbus" }, { 69, "Originator Connection List" },
    { 70, "Modbus Serial Link" }, { 71, "Device Level Ring (DLR)" }, { 72, "QoS" },
    { 73, "Safety Analog Input Point" }, { 74, "Safety Analog Input Group" },
    { 75, "Safety Dual Channel Analog Input" }, { 76, "SERCOS III Link" },
    { 77, "Target Connection List" }, { 78, "Base Energy" }, { 79, "Electrical Energy" },
    { 80, "Non-Electrical Energy" }, { 81, "Base Switch" }, { 82, "SNMP" },
    { 83, "Power Management" }, { 84, "RSTP Bridge" }, { 85, "RSTP Port" },
    { 86, "PRP/HSR Protocol" }, { 87, "PRP/HSR Nodes Table" }, { 88, "Safety Feedback" },
    { 89, "Safety Dual Channel Feedback" }, { 90, "Safety Stop Functions" },
    { 91, "Safety Limit Functions" }, { 92, "Power Curtailment" }, { 93, "CIP Security" },
    { 94, "EtherNet/IP Security" }, { 95, "Certificate Management" }, { 103, "PCCC Class" },
    { 240, "ControlNet" }, { 241, "ControlNet Keeper" }, { 242, "ControlNet Scheduling" },
    { 243, "Connection Configuration" }, { 244, "Port" }, { 245, "TCP/IP Interface" },
    { 246, "Ethernet Link" }, { 247, "CompoNet" }, { 248, "CompoNet Repeater" },
};

const char *enip_vendor_name(uint16_t number)
{
    return NAMED_NUMBER(vendors, number);
}

const char *enip_device_name(uint16_t number)
{
    return NAMED_NUMBER(devices, number);
}

const char *cip_service_name(uint8_t number)
{
    return NAMED_NUMBER(services, number);
}

const char *cip_status_name(uint8_t number)
{
    return NAMED_NUMBER(statuses, number);
}

const char *cip_extended_name(uint16_t number)
{
    return NAMED_NUMBER(extended, number);
}

const char *cip_class_name(uint32_t number)
{
    return NAMED_NUMBER(classes, number);
}
