//! How many cases go into one translation unit.

/// More cases in a unit make a failing one costly to find, and save little once the headers are paid for.
const MOST: usize = 32;

/// Cases 0 to `count` in runs of nearly equal length: as many units as compilers run at a time, or a multiple of that where
/// a unit would be too large.
pub fn partition(count: usize, jobs: usize) -> Vec<Vec<usize>> {
    let jobs = jobs.clamp(1, count.max(1));
    let units = count.div_ceil(MOST).max(jobs).next_multiple_of(jobs).min(count);
    let mut out = vec![];
    let mut start = 0;
    for index in 0..units {
        let length = (count - start).div_ceil(units - index);
        out.push((start..start + length).collect());
        start += length;
    }
    out
}

/// Compilers at a time: one a processor, and 3 GB of free memory for each (nvcc with CuTe headers takes 1 to 2).
pub fn jobs(processors: usize, free_memory: u64) -> usize {
    let fit = usize::try_from(free_memory / 3_000_000_000).unwrap_or(usize::MAX);
    processors.min(fit).max(1)
}

#[cfg(test)]
mod tests {
    use super::{jobs, partition};

    #[test]
    fn every_case_is_in_one_unit_and_the_units_are_even() {
        for count in [0, 1, 2, 7, 8, 33, 64, 200, 1000] {
            for at_a_time in [1, 2, 3, 16] {
                let units = partition(count, at_a_time);
                let all: Vec<usize> = units.concat();
                assert_eq!(all, (0..count).collect::<Vec<_>>());
                let sizes: Vec<usize> = units.iter().map(Vec::len).collect();
                assert!(sizes.iter().all(|s| (1..=32).contains(s)), "{count} {at_a_time} {sizes:?}");
                assert!(sizes.iter().max().unwrap_or(&0) - sizes.iter().min().unwrap_or(&0) <= 1);
            }
        }
        assert_eq!(partition(8, 2).len(), 2);
        assert_eq!(partition(200, 2).len(), 8);
    }

    #[test]
    fn memory_bounds_the_compilers() {
        assert_eq!((jobs(16, 7_000_000_000), jobs(2, u64::MAX), jobs(8, 0)), (2, 2, 1));
    }
}
