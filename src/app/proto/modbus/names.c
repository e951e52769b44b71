/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/modbus/names.c - names in EVE records, as Suricata writes them. */
#include "app/proto/modbus/modbus.h"

#include "base/array.h"

#define NAME_OF(table, number) ((number) < ARRAY_LEN(table) ? (table)[number] : NULL)

const char *modbus_function_name(uint8_t function)
{
    static const char *const names[] = {
        NULL, "RdCoils", "RdDiscreteInputs", "RdHoldRegs", "RdInputRegs", "WrSingleCoil",
        "WrSingleReg", "RdExcStatus", "Diagnostic", "Program484", "Poll484", "GetCommEventCtr",
        "GetCommEventLog", "ProgramController", "PollController", "WrMultCoils", "WrMultRegs",
        "ReportServerID", "Program884", "ResetCommLink", "RdFileRec", "WrFileRec", "MaskWrReg",
        "RdWrMultRegs", "RdFIFOQueue",
    };
    const char *name = NAME_OF(names, function);

    if (function == MODBUS_MEI)
        return "MEI";
    return name != NULL ? name : "Unknown";
}

const char *modbus_diagnostic_name(uint16_t code)
{
    static const char *const names[] = {
        "RetQueryData", "RestartCommOpt", "RetDiagReg", "ChangeInputDelimiter",
        "ForceListenOnlyMode", NULL, NULL, NULL, NULL, NULL, "ClearCtrDiagReg", "RetBusMsgCount",
        "RetBusCommErrCount", "RetBusExcErrCount", "RetServerMsgCount", "RetServerNoRespCount",
        "RetServerNAKCount", "RetServerBusyCount", "RetBusCharOverrunCount", "RetOverrunErrCount",
        "ClearOverrunCounterFlag", "GetClearPlusStats",
    };

    return NAME_OF(names, code);
}

const char *modbus_exception_name(uint16_t code)
{
    static const char *const names[] = {
        NULL, "IllegalFunction", "IllegalDataAddr", "IllegalDataValue", "ServerDeviceFail", "Ack",
        "ServerDeviceBusy", "NegAck", "MemParityErr", NULL, "GatewayPathUnavailable",
        "GatewayTargetFailToResp",
    };

    return NAME_OF(names, code);
}

const char *modbus_mei_name(uint16_t type)
{
    return type == 13 ? "CANOpenGenRefReqResp" : type == 14 ? "RdDevId" : NULL;
}
