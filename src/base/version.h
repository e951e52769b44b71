/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/version.h - the version of ids, and the release of Suricata whose interface it
 * implements. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define IDS_VERSION "0.1.0"
#define IDS_COMPATIBLE_VERSION "8.0.6"
/* What ids reports as Suricata's version. The number comes first, because clients parse it. */
#define IDS_COMPATIBLE_RELEASE IDS_COMPATIBLE_VERSION " RELEASE"

#endif
