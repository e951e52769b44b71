/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/engine_names.c - Suricata's names for the places where rules inspect
 * transactions. Many buffers have the name of an older content modifier there, and tests
 * that of their list. --engine-analysis prints these names, so that its output compares
 * with Suricata's. */
#include "detect/compile/tx_engines.h"

#include <stdio.h>
#include <string.h>

struct name_pair { const char *name, *reported; }; /* rows end with NULL */

/* Our buffer, Suricata's name. A buffer without a row has the same name in both. */
static const struct name_pair buffers[] = {
    { "dcerpc.stub_data", "dce_stub_data" },
    { "dnp3.data", "dnp3_data" },
    { "dns.query", "dns_query" },
    { "file.data", "file_data" },
    { "http.accept", "http_accept" },
    { "http.accept_enc", "http_accept_enc" },
    { "http.accept_lang", "http_accept_lang" },
    { "http.connection", "http_connection" },
    { "http.content_len", "http_content_len" },
    { "http.content_type", "http_content_type" },
    { "http.cookie", "http_cookie" },
    { "http.header", "http_header" },
    { "http.header.raw", "http_raw_header" },
    { "http.header_names", "http_header_names" },
    { "http.host", "http_host" },
    { "http.host.raw", "http_raw_host" },
    { "http.method", "http_method" },
    { "http.protocol", "http_protocol" },
    { "http.referer", "http_referer" },
    { "http.request_body", "http_client_body" },
    { "http.request_header", "http_request_header" },
    { "http.request_line", "http_request_line" },
    { "http.response_header", "http_response_header" },
    { "http.response_line", "http_response_line" },
    { "http.start", "http_start" },
    { "http.stat_code", "http_stat_code" },
    { "http.stat_msg", "http_stat_msg" },
    { "http.uri", "http_uri" },
    { "http.uri.raw", "http_raw_uri" },
    { "http.user_agent", "http_user_agent" },
    { "http2.header_name", "http2_header_name" },
    { "krb5.cname", "krb5_cname" },
    { "krb5.sname", "krb5_sname" },
    { "quic.sni", "quic_sni" },
    { "quic.ua", "quic_ua" },
    { "quic.version", "quic_version" },
    { "sip.user_agent", "sip.ua" },
    { "smb.named_pipe", "smb_named_pipe" },
    { "smb.ntlmssp_domain", "smb_ntlmssp_domain" },
    { "smb.ntlmssp_user", "smb_ntlmssp_user" },
    { "smb.share", "smb_share" },
    { "ssh.software", "ssh_software" },
    { NULL, NULL }
};

/* Our keyword, Suricata's inspection list. */
static const struct name_pair tests[] = {
    { "app-layer-event", "app-layer-events" },
    { "cip_service", "cip" },
    { "dcerpc.iface", "dce_generic" },
    { "dcerpc.opnum", "dce_generic" },
    { "dhcp.rebinding_time", "dhcp.rebinding-time" },
    { "dhcp.renewal_time", "dhcp.renewal-time" },
    { "dnp3_func", "dnp3" },
    { "dnp3_ind", "dnp3" },
    { "dnp3_obj", "dnp3" },
    { "enip_command", "enip.command" },
    { "filemd5", "files" },
    { "filesha1", "files" },
    { "filesha256", "files" },
    { "filesize", "files" },
    { "filestore", "files" },
    { "ftpbounce", "ftp:request_complete:generic" },
    { "http2.errorcode", "http2" },
    { "http2.frametype", "http2" },
    { "http2.priority", "http2" },
    { "http2.settings", "http2" },
    { "http2.size_update", "http2" },
    { "http2.window", "http2" },
    { "krb5.ticket_encryption", "krb5_ticket_encryption" },
    { "nfs.version", "nfs_request" },
    { "nfs_procedure", "nfs_request" },
    { "ntp.mode", "ntp.generic" },
    { "ntp.stratum", "ntp.generic" },
    { "ntp.version", "ntp.generic" },
    { "smb.version", "smb_version" },
    { "snmp.pdu_type", "snmp.generic" },
    { "snmp.trap_type", "snmp.generic" },
    { "snmp.version", "snmp.generic" },
    { "ssl_state", "tls_generic" },
    { "ssl_version", "tls_generic" },
    { "tls.cert_chain_len", "tls:server_cert_done:generic" },
    { "tls.issuerdn", "tls_cert" },
    { "tls.subject", "tls_cert" },
    { "tls.version", "tls_generic" },
    { "tls_cert_expired", "tls:server_cert_done:generic" },
    { "tls_cert_notafter", "tls:server_cert_done:generic" },
    { "tls_cert_notbefore", "tls:server_cert_done:generic" },
    { "tls_cert_valid", "tls:server_cert_done:generic" },
    { NULL, NULL }
};

static const char *reported_as(const struct name_pair *pairs, const char *name)
{
    for (; pairs->name != NULL; pairs++)
        if (strcmp(pairs->name, name) == 0)
            return pairs->reported;
    return name;
}

/* `out` is used for frames only; other names are constants. Suricata calls HTTP/1 frames
 * "http1". */
const char *engine_buffer_name(const struct buffer *b, char out[ENGINE_NAME_SIZE])
{
    const struct app_proto *proto;

    if (b == NULL)
        return "payload";
    if (b->kind != BUFFER_FRAME)
        return reported_as(buffers, b->base->name);
    proto = app_proto_by_id((enum app_proto_id)b->frame_proto);
    snprintf(out, ENGINE_NAME_SIZE, "%s.%s",
             strcmp(proto->name, "http") == 0 ? "http1" : proto->name,
             proto->frames[b->frame_type]);
    return out;
}

const char *engine_test_position(const struct rule_test *test)
{
    return reported_as(tests, test->keyword->name);
}
