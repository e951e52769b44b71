/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/version.h - who we are, and which release of Suricata's interface we speak. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define IDS_VERSION "0.1.0"
#define IDS_COMPATIBLE_VERSION "8.0.6"
/* As Suricata's own programs and those of others ask for it: what they gate on comes first. */
#define IDS_COMPATIBLE_RELEASE IDS_COMPATIBLE_VERSION " RELEASE"

#endif
