//! The diagnosis against the structural simulator, within what a normal test run affords; `krepro selftest --long` does more.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use krepro::selftest::{Outcome, Set, is_failure, many, mutants};

#[test]
fn correct_contracts_are_never_called_wrong() {
    for row in many(Set::Correct, 11, 16, 2) {
        assert_eq!(row.outcome, Outcome::Clean, "{} {}", row.element, row.said);
    }
}

#[test]
fn planted_defects_are_named_or_left_open_and_never_called_right() {
    let rows = many(Set::Catalogue, 12, 24, 2);
    for row in &rows {
        assert!(!is_failure(row.outcome), "{} {} {:?} {}", row.planted, row.element, row.outcome, row.said);
    }
    let observable = rows.iter().filter(|row| row.outcome != Outcome::Unobservable).count();
    let unique = rows.iter().filter(|row| row.outcome == Outcome::Unique).count();
    assert!(unique * 10 >= observable * 9, "{unique} of {observable}");
}

#[test]
fn what_the_dictionary_has_not_never_gets_a_wrong_stage() {
    for (set, count) in [(Set::Foreign, 6), (Set::Double, 6)] {
        for row in many(set, 13, count, 2) {
            assert!(!is_failure(row.outcome), "{} {} {:?} {}", row.planted, row.element, row.outcome, row.said);
        }
    }
}

#[test]
fn no_mutant_of_a_prediction_is_called_right() {
    let report = mutants(3, 3, 4);
    assert_eq!(report.failures, Vec::<String>::new());
    assert!(report.named > 0);
}
