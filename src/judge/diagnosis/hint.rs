//! Where failing probes point when nothing predicts them. Never more than a hint.

use crate::model::Stage;

use super::evidence::Evidence;
use super::kind::Kind;

const OPERAND: [Kind; 8] =
    [Kind::CoverA, Kind::CoverB, Kind::CountA, Kind::CountB, Kind::MapA, Kind::MapB, Kind::CodesA, Kind::CodesB];

/// The stages, the likeliest first.
pub fn hint(evidence: &Evidence<'_>) -> Vec<Stage> {
    let fails = |kind| evidence.fails(kind);
    if evidence.written_wrong() {
        return vec![Stage::Store];
    }
    if fails(Kind::Zero) {
        return vec![Stage::MmaAccumulate];
    }
    if evidence.any_fails(&OPERAND) {
        if fails(Kind::Bias) || fails(Kind::Residual) {
            return vec![Stage::Store, Stage::Epilogue];
        }
        if fails(Kind::CoverA) && fails(Kind::CoverB) && !fails(Kind::MapA) && !fails(Kind::MapB) {
            return vec![Stage::MmaAccumulate, Stage::OperandLoad];
        }
        if fails(Kind::MapA) && fails(Kind::MapB) {
            return vec![Stage::OperandLoad, Stage::Store, Stage::MmaAccumulate];
        }
        return vec![Stage::OperandLoad, Stage::MmaAccumulate];
    }
    if fails(Kind::ScaleMapA) || fails(Kind::ScaleMapB) || (fails(Kind::RandomScales) && !fails(Kind::Ones)) {
        return vec![Stage::QuantisationScale];
    }
    if fails(Kind::Accumulator) {
        return vec![Stage::MmaAccumulate, Stage::Epilogue];
    }
    let epilogue = [
        Kind::ScaleA,
        Kind::ScaleB,
        Kind::Alpha,
        Kind::Bias,
        Kind::Residual,
        Kind::Order,
        Kind::Activation,
        Kind::ZeroPoint,
        Kind::Round,
        Kind::Saturate,
    ];
    if evidence.any_fails(&epilogue) {
        return vec![Stage::Epilogue];
    }
    if fails(Kind::PoisonedOnes) || (fails(Kind::RandomPoisoned) && !fails(Kind::Random)) {
        return vec![Stage::OperandLoad];
    }
    if fails(Kind::RandomLarge) && !fails(Kind::Random) {
        return vec![Stage::MmaAccumulate, Stage::Epilogue];
    }
    vec![]
}
