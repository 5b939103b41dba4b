//! Special registers.

use super::{Lower, Lowered, unknown};
use crate::exec::code::Special;
use crate::exec::op::{Clock, Op};
use crate::ptx::Class;

fn special(name: &str) -> Option<Special> {
    let axis = match name.rsplit('.').next() {
        Some("x") => 0,
        Some("y") => 1,
        _ => 2,
    };
    Some(match name {
        "%tid.x" | "%tid.y" | "%tid.z" => Special::Thread(axis),
        "%ntid.x" | "%ntid.y" | "%ntid.z" => Special::Threads(axis),
        "%ctaid.x" | "%ctaid.y" | "%ctaid.z" => Special::Cta(axis),
        "%nctaid.x" | "%nctaid.y" | "%nctaid.z" => Special::Ctas(axis),
        "%cluster_ctaid.x" | "%cluster_ctaid.y" | "%cluster_ctaid.z" => Special::CtaInCluster(axis),
        "%cluster_nctaid.x" | "%cluster_nctaid.y" | "%cluster_nctaid.z" => Special::CtasInCluster(axis),
        "%clusterid.x" | "%clusterid.y" | "%clusterid.z" => Special::Cluster(axis),
        "%nclusterid.x" | "%nclusterid.y" | "%nclusterid.z" => Special::Clusters(axis),
        "%laneid" => Special::Lane,
        "%warpid" => Special::Warp,
        "%nwarpid" => Special::Warps,
        "%cluster_ctarank" => Special::ClusterRank,
        "%cluster_nctarank" => Special::ClusterSize,
        "%smid" => Special::Multiprocessor,
        "%nsmid" => Special::Multiprocessors,
        "%lanemask_eq" => Special::MaskEqual,
        "%lanemask_lt" => Special::MaskLess,
        "%lanemask_le" => Special::MaskLessEqual,
        "%lanemask_gt" => Special::MaskGreater,
        "%lanemask_ge" => Special::MaskGreaterEqual,
        "%dynamic_smem_size" => Special::DynamicShared,
        "%total_smem_size" | "%aggr_smem_size" => Special::TotalShared,
        "%gridid" => Special::Grid,
        _ => return None,
    })
}

impl Lower<'_> {
    pub(super) fn special_word(&mut self, special: Special) -> u32 {
        if let Some(&register) = self.special_words.get(&special) {
            return register;
        }
        let register = self.fresh(Class::Word);
        self.special_words.insert(special, register);
        register
    }

    pub(super) fn special_double(&mut self, special: Special) -> u32 {
        if let Some(&register) = self.special_doubles.get(&special) {
            return register;
        }
        let register = self.fresh(Class::Double);
        self.special_doubles.insert(special, register);
        register
    }

    /// The predicate that stands for the carry flag.
    pub(super) fn carry_flag(&mut self) -> u32 {
        if let Some(register) = self.carry_register {
            return register;
        }
        let register = self.fresh(Class::Predicate);
        self.carry_register = Some(register);
        register
    }

    /// A word register with the special register's value.
    pub(super) fn special_as_word(&mut self, name: &str) -> Lowered<u32> {
        if let Some(special) = special(name) {
            return Ok(self.special_word(special));
        }
        let kind = match name {
            "%clock" => Clock::Low,
            "%clock_hi" | "%globaltimer_hi" => Clock::High,
            "%globaltimer_lo" => Clock::Low,
            _ => return unknown(format!("special register {name}")),
        };
        let to = self.fresh(Class::Word);
        self.emit(Op::Clock { kind, to });
        Ok(to)
    }

    /// A double register with the special register's value.
    pub(super) fn special_as_double(&mut self, name: &str) -> Lowered<u32> {
        if let Some(special) = special(name) {
            return Ok(self.special_double(special));
        }
        let kind = match name {
            "%clock64" => Clock::Wide,
            "%globaltimer" => Clock::Nanoseconds,
            _ => return unknown(format!("special register {name}")),
        };
        let to = self.fresh(Class::Double);
        self.emit(Op::Clock { kind, to });
        Ok(to)
    }
}
