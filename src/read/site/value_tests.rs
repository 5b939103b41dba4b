//! Sites whose values depend on C++'s types and on what shares its place with something else.

use std::collections::BTreeMap;

use super::evaluate;
use crate::diag::draw;
use crate::source::Source;

/// What a site prints for `a`, with `n` = 16; ` stale` behind it where a warning says so, or the errors.
fn printed(body: &str) -> String {
    let site = format!(
        "std::string emit(int n, unsigned int w, Config &c) {{ {body}; CodeWriter code; code.e(\"k<$>();\", a); return code.to_string(); }}"
    );
    let given = [("n", "16"), ("w", "1"), ("c.m", "4")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    match evaluate(&Source::new("site.cc", site), Some("emit"), &BTreeMap::from(given)) {
        Ok(emission) => {
            let stale = emission.warnings.iter().any(|d| d.code == "K-SITE-STALE");
            let text = emission.text();
            let value = text.trim().trim_start_matches("k<").trim_end_matches(">();");
            value.to_owned() + if stale { " stale" } else { "" }
        }
        Err(errors) => errors.iter().map(|d| draw(d, false) + "\n").collect(),
    }
}

fn refused(body: &str) {
    let error = printed(body);
    assert!(error.contains("error[K-SITE") && error.contains("site.cc:1:"), "{body}\n{error}");
}

#[test]
fn both_branches_of_a_conditional_have_their_common_type() {
    for (body, value) in [
        ("unsigned u=1; auto a=(n>8?-1:u)>>28", "15"),
        ("unsigned u=1; auto a=(n<8?u:-1)>>28", "15"),
        ("auto a=(n>8?-1:w)>>28", "15"),
        ("long a=(n>8?-1:1u)", "4294967295"),
        ("unsigned u=1; int a=(n>8?-1:u)/2", "2147483647"),
        ("unsigned u=1; long a=n>8?-1:(n>2?3:u+1)", "4294967295"),
        ("long a=n>8?-1:std::max<unsigned>(n, 1)", "4294967295"),
        ("auto a=n>8?true:0", "1"),
        ("auto a=n>8?1:2.5", "1.000000"),
        ("auto a=(n>8?7:2.5)/2", "3.500000"),
        ("uint8_t u=3; auto a=(n>8?-1:u)", "-1"),
        ("auto a=n>8?n<20:false", "true"),
        ("auto a=n>8?n/0:1", ""),
        ("auto a=n<8?n/0:1", "1"),
        ("auto a=n>8?\"x\":\"yz\"", "x"),
        ("std::vector<int> v{1}; long a=(n>8?-1:v.size())", "-1"),
        ("unsigned v[]={1,2}; long a=(n>8?-1:v[1])", "4294967295"),
        ("unsigned v[]={-1,2}; auto a=v[0]>>28", "15"),
        ("std::array<uint8_t, 2> v{260,2}; auto a=v[0]", "4"),
    ] {
        match value {
            "" => refused(body),
            value => assert_eq!(printed(body), value, "{body}"),
        }
    }
}

#[test]
fn the_explicit_type_of_min_and_max_is_that_of_their_arguments() {
    for (body, value) in [
        ("auto a=std::max<unsigned>(-1,3)>>28", "15"),
        ("int a=std::min<uint8_t>(n+256,100)", "16"),
        ("long a=std::min<size_t>(-1,5)", "5"),
        ("auto a=std::max<int>(n,3)", "16"),
        ("auto a=std::max(n,3)", "16"),
    ] {
        assert_eq!(printed(body), value, "{body}");
    }
    refused("auto a=std::max<Index>(n,3)");
}
