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

/// Bodies that print this value, some with a question or a warning instead: never another value.
fn expected(cases: &[(&str, &str)]) {
    for (body, value) in cases {
        match *value {
            "" => refused(body),
            value => assert_eq!(printed(body), value, "{body}"),
        }
    }
}

#[test]
fn a_reference_has_the_value_that_its_place_has_now() {
    expected(&[
        ("int b=n; int const &a=b; b=32", "32"),
        ("int b=n; const auto &a=b; b*=2; b++", "33"),
        ("int const &a=n; n=32", "32"),
        ("auto const &a=c.m; c.m=64", "64"),
        ("int b=n; int const &a=b; const int &d=a; b=5; a", "5"),
        ("int b=n; int const &q=b; int const &a=q; b=5", "5"),
        ("std::string t=\"x\"; std::string const &a=t; t+=\"y\"", "xy"),
        // Bound to what is no place, or to a copy of another type.
        ("int b=n; long const &a=b; b=32", "16"),
        ("int b=n; int const &a=b+0; b=32", "16"),
        ("int b=n; double const &a=b; b=32", "16.000000"),
        ("int b=n; auto const &a=static_cast<long>(b); b=32", "16"),
        ("int b=n; auto const &a=half(b); b=32", ""),
        ("int b=n; int a=b; b=32", "16"),
        // Never changed.
        ("int b=n; auto const &a=b", "16"),
        ("int b=n; auto const &x=b; int a=x*2", "32"),
        ("int b=n; auto &&a=n+1", "17"),
        ("auto const &a=c.m", "4"),
        ("auto const &a=std::max(n, 3)", "16"),
        ("int b=n; { int const &q=b; } b=5; int a=b", "5"),
        ("int b=n; int const &a=b; { int b=5; b++; }", "16"),
        ("int t[2]={1,2}; auto const &a=t[1]", "2"),
        // What changes them is not followed.
        ("int b=n; int const &a=b; fix(b)", ""),
        ("int b=n; int const &a=b; if (other()) b=3", ""),
        ("int b=n; auto &&a=b; b=32", ""),
        ("int b=n; int &a=b; b=32", ""),
        ("int b=n; int const &a=b; int &r=b; r=32", ""),
        ("int b=n; int &r=b; int const &a=b; r=32", ""),
        ("int b=n; int &a=b; int &r=b; r=32", ""),
        ("int b=n; int &a=b; auto f=[&]{b=32;}; a=3; f()", ""),
        ("int b=n; int const &a=n>8?b:n; b=32", ""),
        ("int b=n; int const &a=std::max(b, 3); b=32", ""),
        ("int b=n; int const &a=(b); b=32", ""),
        ("int t[2]={1,2}; int const &a=t[1]; t[1]=32", ""),
        ("int t[2]={1,2}; auto const &a=t[n-15]; t[1]=32", ""),
        ("int const &a=c.m; c.m=64", ""),
        ("auto const &a=c.m; c.m=other()", ""),
        ("auto const &a=c.m; fix(c)", "4 stale"),
        ("int b=n; if (other()) { int &r=b; r=32; } int a=b", ""),
        ("int b=n; int &r(b); r=32; int a=b", ""),
        ("int b=n; int &r{b}; r=32; int a=b", ""),
        ("int b=n; int a=b; a=3; b=4", "3"),
        ("auto const &cfg=c; c.m=64; int a=c.m", "64"),
    ]);
}

#[test]
fn what_a_pointer_an_iterator_or_a_view_reaches_is_not_taken_for_a_copy() {
    expected(&[
        ("int t[2]={1,2}; int *p=t; p[0]=3; int a=t[0]", ""),
        ("int t[2]={1,2}; int *p; p=t; p[0]=3; int a=t[0]", ""),
        ("int t[2]={1,2}; auto p=t; *p=3; int a=t[0]", ""),
        ("int t[2]={1,2}; int *p=t+1; *p=3; int a=t[1]", ""),
        ("int t[2]={1,2}; int *p=&t[0]; p[1]=3; int a=t[1]", ""),
        ("int t[2]={1,2}; const int *p=t; t[0]=3; int a=p[0]", ""),
        ("int t[2]={1,2}; const int *p=t; p++; int a=p[0]", ""),
        ("int t[2]={1,2}; const int *p=t; std::advance(p, 1); int a=p[0]", ""),
        ("int t[2]={1,2}; if (other()) { int *p=t; p[0]=3; } int a=t[0]", ""),
        ("std::vector<int> v{1,2}; int *p=v.data(); p[0]=3; int a=v[0]", ""),
        ("std::vector<int> v{1,2}; auto p=v.data(); v[0]=7; p[0]=3; int a=v[0]", ""),
        ("std::vector<int> v{1,2}; auto it=v.begin(); v[0]=7; *it=3; int a=v[0]", ""),
        ("std::vector<int> v{1,2}; std::span<int> s(v); s[0]=3; int a=v[0]", ""),
        ("std::vector<int> v{1,2}; std::span<int> s=v; s[0]=3; int a=v[0]", ""),
        ("std::string t=\"x\"; std::string_view a=t; t+=\"y\"", ""),
        ("int b=n; auto r=std::ref(b); r.get()=3; int a=b", ""),
        ("int b=n; std::reference_wrapper<int> r=b; r.get()=3; int a=b", ""),
        ("int t[2]={1,2}; fill(t); int a=t[0]", ""),
        ("int t[2]={1,2}; int (&r)[2]=t; r[0]=3; int a=t[0]", ""),
        ("std::vector<int> v{1,2}; auto const &w=v; v[0]=9; int a=w[0]", ""),
        ("int b=n; auto f=[&]() -> int & { return b; }; f()=3; int a=b", ""),
        ("int b=n; auto f=[p=&b] { *p=3; }; b=5; f(); int a=b", ""),
        ("std::string a=\"ab\"; a[0]='z'", ""),
        ("std::string a=\"ab\"; a+=65", ""),
        ("std::string a=\"ab\"; a+='c'", "abc"),
        ("const char *s=\"12\"; s+=1; auto a=std::string(s)", ""),
        ("int t[2]={1,2}; const int *p=t; int a=p[1]+t[0]", "3"),
        ("const int t[]={1,2}; int a=t[1]", "2"),
        ("std::vector<int> v{1,2}; int a=v[0]+v[1]", "3"),
        ("std::string t=\"x\"; std::string_view a=t", "x"),
    ]);
}

#[test]
fn elements_that_a_loop_changes_are_not_those_of_before() {
    expected(&[
        ("std::vector<int> v{4,2}; for (auto &x : v) x*=2; int a=v[0]", ""),
        ("std::vector<int> v{4,2}; for (int &x : v) { if (n>3) x=7; } int a=v[0]", ""),
        ("std::vector<int> v{4,2}; for (auto &&x : v) x++; int a=v[0]", ""),
        ("std::vector<int> v{4,2}; for (auto &x : v) fix(x); int a=v[0]", ""),
        ("int v[]={4,2}; for (auto &x : v) x*=2; int a=v[0]", ""),
        ("std::vector<int> v{4,2}; if (other()) for (auto &x : v) x=2; int a=v[0]", ""),
        ("std::vector<int> v{4,2}; int a=0; for (int x : v) { a+=x; v[1]=9; }", ""),
        ("std::vector<int> v{4,2}; int a=0; for (int x : v) { a+=x; v.push_back(1); }", ""),
        ("std::vector<int> v{4,2}; int *p=v.data(); int a=0; for (int x : v) { a+=x; p[1]=9; }", ""),
        ("std::vector<int> v{4,2}; int a=0; for (int x : v) a+=x", "6"),
        ("std::vector<int> v{4,2}; int a=0; for (auto const &x : v) a+=x", "6"),
        ("std::vector<int> v{4,2}; int a=0; for (auto &x : v) a+=x", "6"),
        ("std::vector<int> v{4,2}; int a=0; for (int x : v) { x*=2; a+=x; }", "12"),
        ("std::vector<uint8_t> v{200,2}; int a=0; for (auto x : v) { x+=100; a+=x; }", "146"),
        ("int a=0; for (int const &x : {1,2}) a+=x", "3"),
    ]);
}

#[test]
fn members_of_a_local_are_not_those_of_another_of_its_name() {
    expected(&[("{ Tile p; p.x=4; } Tile p; int a=p.x", ""), ("Tile p; p.x=4; { Tile p; p.x=5; } int a=p.x", "4")]);
}

#[test]
fn types_that_a_declaration_does_not_spell_convert_as_well() {
    expected(&[
        ("auto a=static_cast<uint8_t>(200); a+=100", "44"),
        ("auto a=128; a*=0.5", "64"),
        ("auto a=n; a*=0.3", "4"),
        ("auto a=c.m; a*=0.5", ""),
        ("c.m*=0.5; int a=c.m", ""),
        ("auto a=c.m; a*=2", "8"),
        ("auto a=0.5f; a*=3", "1.500000"),
        ("auto a=1; a=2.9", "2"),
        ("using U=uint8_t; U a=260", "4"),
        ("typedef unsigned U; using V=U; V b=-1; int a=b>>28", "15"),
        ("using U=uint8_t; auto a=static_cast<U>(260)+(U)257", "5"),
        ("using U=uint8_t; using T=Tile; T t; U a=3", "3"),
        ("decltype(n) a=2.9", "2"),
        ("uint8_t s[]={200,2}; auto a=s[0]; a+=100", "44"),
    ]);
}
