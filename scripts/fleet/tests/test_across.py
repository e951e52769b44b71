# SPDX-License-Identifier: GPL-2.0-or-later
import pytest

from ids_fleet.across import ALL, rules_across

RULE = "alert tcp any any -> any any (msg:\"x\"; {} sid:7; rev:1;)\n"


@pytest.mark.parametrize("options", [
    "threshold:type limit, track by_src, count 1, seconds 60;",
    "threshold:type both, count 1, seconds 60, track by_rule;",
    "detection_filter:track by_dst, count 3, seconds 60;", "xbits:set,a,track ip_src;",
    "xbits:isset,a, track ip_dst;", "hostbits:set,a,src;", "tag:host,10,packets,src;",
    "http.host; dataset:set,seen,type string;", "http.host; dataset: unset , seen;",
    "threshold:type limit, \\\n  track by_src, count 1, seconds 60;", "lua:a.lua;",
])
def test_what_is_kept_across_flows(options):
    assert rules_across(RULE.format(options)) == {7}
    assert rules_across("# " + RULE.format(options).replace("\\\n", "")) == set()


@pytest.mark.parametrize("options", [
    "", "threshold:type limit, track by_both, count 1, seconds 60;", "xbits:set,a,track ip_pair;",
    "detection_filter:track by_flow, count 3, seconds 60;", "flowbits:set,a;", "tag:session;",
    "http.host; dataset:isset,known,type string,load known.lst;",
])
def test_what_is_kept_for_two_hosts(options):
    assert rules_across(RULE.format(options)) == set()


def test_a_dataset_that_a_rule_writes_concerns_those_that_read_it():
    rules = (RULE.format("http.host; dataset:isset,seen;").replace("7", "1")
             + RULE.format("http.host; dataset:set,seen,type string;").replace("7", "2")
             + RULE.format("http.host; dataset:isset,other;").replace("7", "3"))
    assert rules_across(rules) == {1, 2}


def test_settings_apart_from_the_rules():
    settings = ("event_filter gen_id 1, sig_id 5, type limit, track by_src, count 1, seconds 60\n"
                "rate_filter gen_id 1, sig_id 6, track by_both, count 1, seconds 60\n"
                "suppress gen_id 1, sig_id 8, track by_src, ip 10.0.0.1\n")
    assert rules_across(RULE, settings) == {5}
    assert ALL in rules_across(RULE, settings.replace("sig_id 5", "sig_id 0"))
