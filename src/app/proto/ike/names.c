/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ike/names.c - names of IKE's numbers (IANA: ipsec-registry, ikev2-parameters), as
 * Suricata writes them. */
#include "app/proto/ike/ike.h"

#include <stdio.h>

/* --- version 1 -------------------------------------------------------------------------------- */

static const struct app_name v1_exchanges[] = {
    { "Unknown Exchange Type", 0 }, { "Base", 1 }, { "Identity Protection", 2 },
    { "Authentication Only", 3 }, { "Aggressive", 4 }, { "Informational", 5 },
    { "Transaction (Config Mode)", 6 }, { "Quick Mode", 32 }, { "New Group Mode", 33 }, { NULL, 0 },
};
static const struct app_name v1_payloads[] = {
    { "None", 0 }, { "SecurityAssociation", 1 }, { "Proposal", 2 }, { "Transform", 3 },
    { "KeyExchange", 4 }, { "Identification", 5 }, { "Certificate", 6 },
    { "CertificateRequest", 7 }, { "Hash", 8 }, { "Signature", 9 }, { "Nonce", 10 },
    { "Notification", 11 }, { "Delete", 12 }, { "VendorID", 13 }, { "SaKekPayload", 15 },
    { "SaTekPayload", 16 }, { "KeyDownload", 17 }, { "SequenceNumber", 18 },
    { "ProofOfPossession", 19 }, { "NatDiscovery", 20 }, { "NatOriginalAddress", 21 },
    { "GroupAssociatedPolicy", 22 }, { NULL, 0 },
};
static const struct app_name v1_attributes[] = {
    { "alg_enc", 1 }, { "alg_hash", 2 }, { "alg_auth", 3 }, { "alg_dh", 4 }, { "sa_group_type", 5 },
    { "sa_group_prime", 6 }, { "sa_group_generator_one", 7 }, { "sa_group_generator_two", 8 },
    { "sa_group_curve_a", 9 }, { "sa_group_curve_b", 10 }, { "sa_life_type", 11 },
    { "sa_life_duration", 12 }, { "alg_prf", 13 }, { "sa_key_length", 14 }, { "sa_field_size", 15 },
    { "sa_group_order", 16 }, { NULL, 0 },
};
static const struct app_name v1_encryptions[] = {
    { "EncDesCbc", 1 }, { "EncIdeaCbc", 2 }, { "EncBlowfishCbc", 3 }, { "EncRc5R16B64Cbc", 4 },
    { "EncTripleDesCbc", 5 }, { "EncCastCbc", 6 }, { "EncAesCbc", 7 }, { "EncCamelliaCbc", 8 },
    { NULL, 0 },
};
static const struct app_name v1_hashes[] = {
    { "HashMd5", 1 }, { "HashSha", 2 }, { "HashTiger", 3 }, { "HashSha2_256", 4 },
    { "HashSha2_384", 5 }, { "HashSha2_512", 6 }, { NULL, 0 },
};
static const struct app_name v1_methods[] = {
    { "AuthPreSharedKey", 1 }, { "AuthDssSignatures", 2 }, { "AuthRsaSignatures", 3 },
    { "AuthEncryptionWithRsa", 4 }, { "AuthRevisedEncryptionWithRsa", 5 }, { "AuthReserved", 6 },
    { "AuthReserved", 7 }, { "AuthReserved", 8 }, { "AuthEcdsaSha256", 9 },
    { "AuthEcdsaSha384", 10 }, { "AuthEcdsaSha512", 11 }, { NULL, 0 },
};
static const struct app_name v1_groups[] = {
    { "GroupDefault768BitModp", 1 }, { "GroupAlternate1024BitModpGroup", 2 },
    { "GroupEc2nOnGp2p155", 3 }, { "GroupEc2nOnGp2p185", 4 }, { "GroupModp1536Bit", 5 },
    { "GroupEc2nOverGf2p163", 6 }, { "GroupEc2nOverGf2p163", 7 }, { "GroupEc2nOverGf2p283", 8 },
    { "GroupEc2nOverGf2p283", 9 }, { "GroupEc2nOverGf2p409", 10 }, { "GroupEc2nOverGf2p409", 11 },
    { "GroupEc2nOverGf2p571", 12 }, { "GroupEc2nOverGf2p571", 13 }, { "GroupModp2048Bit", 14 },
    { "GroupModp3072Bit", 15 }, { "GroupModp4096Bit", 16 }, { "GroupModp6144Bit", 17 },
    { "GroupModp8192Bit", 18 }, { "GroupRandomEcp256", 19 }, { "GroupRandomEcp384", 20 },
    { "GroupRandomEcp521", 21 }, { "GroupModp1024With160BitPrime", 22 },
    { "GroupModp2048With224BitPrime", 23 }, { "GroupModp2048With256BitPrime", 24 },
    { "GroupRandomEcp192", 25 }, { "GroupRandomEcp224", 26 }, { "GroupBrainpoolEcp224", 27 },
    { "GroupBrainpoolEcp256", 28 }, { "GroupBrainpoolEcp384", 29 }, { "GroupBrainpoolEcp512", 30 },
    { NULL, 0 },
};
static const struct app_name v1_lives[] = {
    { "LifeTypeSeconds", 1 }, { "LifeTypeKilobytes", 2 }, { NULL, 0 },
};

/* --- version 2 -------------------------------------------------------------------------------- */

static const struct app_name v2_payloads[] = {
    { "NoNextPayload", 0 }, { "SecurityAssociation", 33 }, { "KeyExchange", 34 },
    { "IdentInitiator", 35 }, { "IdentResponder", 36 }, { "Certificate", 37 },
    { "CertificateRequest", 38 }, { "Authentication", 39 }, { "Nonce", 40 }, { "Notify", 41 },
    { "Delete", 42 }, { "VendorID", 43 }, { "TrafficSelectorInitiator", 44 },
    { "TrafficSelectorResponder", 45 }, { "EncryptedAndAuthenticated", 46 },
    { "Configuration", 47 }, { "ExtensibleAuthentication", 48 }, { NULL, 0 },
};
static const struct app_name v2_notifies[] = {
    { "UNSUPPORTED_CRITICAL_PAYLOAD", 1 }, { "INVALID_IKE_SPI", 4 }, { "INVALID_MAJOR_VERSION", 5 },
    { "INVALID_SYNTAX", 7 }, { "INVALID_MESSAGE_ID", 9 }, { "INVALID_SPI", 11 },
    { "NO_PROPOSAL_CHOSEN", 14 }, { "INVALID_KE_PAYLOAD", 17 }, { "AUTHENTICATION_FAILED", 24 },
    { "SINGLE_PAIR_REQUIRED", 34 }, { "NO_ADDITIONAL_SAS", 35 }, { "INTERNAL_ADDRESS_FAILURE", 36 },
    { "FAILED_CP_REQUIRED", 37 }, { "TS_UNACCEPTABLE", 38 }, { "INVALID_SELECTORS", 39 },
    { "TEMPORARY_FAILURE", 43 }, { "CHILD_SA_NOT_FOUND", 44 }, { "INITIAL_CONTACT", 16384 },
    { "SET_WINDOW_SIZE", 16385 }, { "ADDITIONAL_TS_POSSIBLE", 16386 },
    { "IPCOMP_SUPPORTED", 16387 }, { "NAT_DETECTION_SOURCE_IP", 16388 },
    { "NAT_DETECTION_DESTINATION_IP", 16389 }, { "COOKIE", 16390 }, { "USE_TRANSPORT_MODE", 16391 },
    { "HTTP_CERT_LOOKUP_SUPPORTED", 16392 }, { "REKEY_SA", 16393 },
    { "ESP_TFC_PADDING_NOT_SUPPORTED", 16394 }, { "NON_FIRST_FRAGMENTS_ALSO", 16395 },
    { "MULTIPLE_AUTH_SUPPORTED", 16404 }, { "ANOTHER_AUTH_FOLLOWS", 16405 },
    { "REDIRECT_SUPPORTED", 16406 }, { "IKEV2_FRAGMENTATION_SUPPORTED", 16430 },
    { "SIGNATURE_HASH_ALGORITHMS", 16431 }, { NULL, 0 },
};
static const struct app_name v2_encryptions[] = {
    { "ENCR_DES_IV64", 1 }, { "ENCR_DES", 2 }, { "ENCR_3DES", 3 }, { "ENCR_RC5", 4 },
    { "ENCR_IDEA", 5 }, { "ENCR_CAST", 6 }, { "ENCR_BLOWFISH", 7 }, { "ENCR_3IDEA", 8 },
    { "ENCR_DES_IV32", 9 }, { "ENCR_NULL", 11 }, { "ENCR_AES_CBC", 12 }, { "ENCR_AES_CTR", 13 },
    { "ENCR_AES_CCM_8", 14 }, { "ENCR_AES_CCM_12", 15 }, { "ENCR_AES_CCM_16", 16 },
    { "ENCR_AES_GCM_8", 18 }, { "ENCR_AES_GCM_12", 19 }, { "ENCR_AES_GCM_16", 20 },
    { "ENCR_NULL_AUTH_AES_GMAC", 21 }, { "ENCR_CAMELLIA_CBC", 23 }, { "ENCR_CAMELLIA_CTR", 24 },
    { "ENCR_CAMELLIA_CCM_8", 25 }, { "ENCR_CAMELLIA_CCM_12", 26 }, { "ENCR_CAMELLIA_CCM_16", 27 },
    { "ENCR_CHACHA20_POLY1305", 28 }, { NULL, 0 },
};
static const struct app_name v2_prfs[] = {
    { "PRF_NULL", 0 }, { "PRF_HMAC_MD5", 1 }, { "PRF_HMAC_SHA1", 2 }, { "PRF_HMAC_TIGER", 3 },
    { "PRF_AES128_XCBC", 4 }, { "PRF_HMAC_SHA2_256", 5 }, { "PRF_HMAC_SHA2_384", 6 },
    { "PRF_HMAC_SHA2_512", 7 }, { "PRF_AES128_CMAC", 8 }, { NULL, 0 },
};
static const struct app_name v2_integrities[] = {
    { "NONE", 0 }, { "AUTH_HMAC_MD5_96", 1 }, { "AUTH_HMAC_SHA1_96", 2 }, { "AUTH_DES_MAC", 3 },
    { "AUTH_KPDK_MD5", 4 }, { "AUTH_AES_XCBC_96", 5 }, { "AUTH_HMAC_MD5_128", 6 },
    { "AUTH_HMAC_SHA1_160", 7 }, { "AUTH_AES_CMAC_96", 8 }, { "AUTH_AES_128_GMAC", 9 },
    { "AUTH_AES_192_GMAC", 10 }, { "AUTH_AES_256_GMAC", 11 }, { "AUTH_HMAC_SHA2_256_128", 12 },
    { "AUTH_HMAC_SHA2_384_192", 13 }, { "AUTH_HMAC_SHA2_512_256", 14 }, { NULL, 0 },
};
static const struct app_name v2_groups[] = {
    { "None", 0 }, { "Modp768", 1 }, { "Modp1024", 2 }, { "Modp1536", 5 }, { "Modp2048", 14 },
    { "Modp3072", 15 }, { "Modp4096", 16 }, { "Modp6144", 17 }, { "Modp8192", 18 },
    { "Ecp256", 19 }, { "Ecp384", 20 }, { "Ecp521", 21 }, { "Modp1024s160", 22 },
    { "Modp2048s224", 23 }, { "Modp2048s256", 24 }, { "Ecp192", 25 }, { "Ecp224", 26 },
    { "BrainpoolP224r1", 27 }, { "BrainpoolP256r1", 28 }, { "BrainpoolP384r1", 29 },
    { "BrainpoolP512r1", 30 }, { "Curve25519", 31 }, { "Curve448", 32 }, { NULL, 0 },
};
static const struct app_name v2_sequences[] = {
    { "NoESN", 0 }, { "ESN", 1 }, { NULL, 0 },
};

static const char *find(const struct app_name *names, int64_t value)
{
    for (; names->name != NULL; names++)
        if (names->value == value)
            return names->name;
    return NULL;
}

const char *ike_v1_exchange_name(uint8_t type)
{
    return find(v1_exchanges, type);
}

const char *ike_v1_payload_name(uint8_t type)
{
    return find(v1_payloads, type);
}

const char *ike_attribute_name(uint16_t type)
{
    const char *name = find(v1_attributes, type);

    return name != NULL ? name : "unknown";
}

/* Values have names for five attributes only. */
const char *ike_attribute_value(const struct ike_attribute *attribute)
{
    static const struct app_name *const values[] = {
        [1] = v1_encryptions, [2] = v1_hashes, [3] = v1_methods, [4] = v1_groups,
        [11] = v1_lives };
    const char *name = NULL;

    if (attribute->type < ARRAY_LEN(values) && values[attribute->type] != NULL)
        name = find(values[attribute->type], attribute->value);
    return name != NULL ? name : "Unknown";
}

/* "NotifyType(40000 / 0x9c40)" for a number without a name. */
static const char *find_or_number(const struct app_name *names, const char *kind, uint16_t value,
                                  char out[IKE_NAME_TEXT])
{
    const char *name = find(names, value);

    if (name != NULL)
        return name;
    snprintf(out, IKE_NAME_TEXT, "%s(%u / 0x%x)", kind, value, value);
    return out;
}

const char *ike_v2_payload_name(uint8_t type, char out[IKE_NAME_TEXT])
{
    return find_or_number(v2_payloads, "IkePayloadType", type, out);
}

const char *ike_v2_notify_name(uint16_t type, char out[IKE_NAME_TEXT])
{
    return find_or_number(v2_notifies, "NotifyType", type, out);
}

const char *ike_v2_transform_name(enum ike_transform_type type, uint16_t id,
                                  char out[IKE_NAME_TEXT])
{
    static const struct { const struct app_name *names; const char *kind; } types[] = {
        [IKE_ENC] = { v2_encryptions, "IkeTransformEncType" },
        [IKE_PRF] = { v2_prfs, "IkeTransformPRFType" },
        [IKE_AUTH] = { v2_integrities, "IkeTransformAuthType" },
        [IKE_DH] = { v2_groups, "IkeTransformDHType" },
        [IKE_ESN] = { v2_sequences, "IkeTransformESNType" } };

    return find_or_number(types[type].names, types[type].kind, id, out);
}
