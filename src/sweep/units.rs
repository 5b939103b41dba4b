//! How many cases go into one translation unit, and which of them keep it from compiling.

use crate::build::output::first_error;

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

/// The instantiation that the compiler stumbled over: the one in whose namespace the first error, or the last step that led to it,
/// stands in the generated text.
pub fn blamed(output: &str, text: &str) -> Option<usize> {
    let error = first_error(output)?;
    let own = |file: &str| file.ends_with("sweep.cu");
    let direct = error.file.as_deref().filter(|file| own(file)).and(error.line);
    let line = direct.or_else(|| error.through.iter().rev().find(|(file, _)| own(file)).map(|(_, line)| *line))?;
    let before: Vec<&str> = text.lines().take(line).collect();
    let opened = before.iter().rev().find_map(|line| line.strip_prefix("namespace krepro_kernel_"))?;
    opened.split(' ').next()?.parse().ok()
}

/// The parts of a unit that does not compile: the blamed instantiation and the others, else two halves.
pub fn split(unit: &[usize], kernels: &[usize], blamed: Option<usize>) -> [Vec<usize>; 2] {
    let is_blamed = |(place, _): &(usize, &usize)| blamed.is_some() && kernels.get(*place).copied() == blamed;
    let (guilty, others): (Vec<_>, Vec<_>) = unit.iter().enumerate().partition(is_blamed);
    let items = |part: Vec<(usize, &usize)>| part.into_iter().map(|(_, item)| *item).collect::<Vec<usize>>();
    let (guilty, others) = (items(guilty), items(others));
    if guilty.is_empty() || others.is_empty() {
        let (left, right) = unit.split_at(unit.len() / 2);
        return [left.to_vec(), right.to_vec()];
    }
    // The others first: they are most of the work.
    [others, guilty]
}

#[cfg(test)]
mod tests {
    use super::{blamed, jobs, partition, split};

    #[test]
    fn the_instantiation_that_fails_is_set_apart() {
        let text = "#include <a>\nnamespace krepro_kernel_0 {\nx;\n}\nnamespace krepro_kernel_1 {\ny;\n}\n";
        let direct = "../sweep.cu(6): error: no\n";
        let through = "/h/a.cuh(67): error: static assertion failed\n          detected during:\n            \
            instantiation of \"void f<N>() [with N=9]\" at line 12 of /h/b.cuh\n            \
            instantiation of \"void g<N>() [with N=9]\" at line 3 of ../sweep.cu\n";
        assert_eq!((blamed(direct, text), blamed(through, text)), (Some(1), Some(0)));
        assert_eq!(blamed("nvcc fatal   : no\n", text), None);
        assert_eq!(split(&[7, 8, 9], &[0, 1, 0], Some(1)), [vec![7, 9], vec![8]]);
        assert_eq!(split(&[7, 8, 9, 10], &[0, 1, 2, 3], None), [vec![7, 8], vec![9, 10]]);
        assert_eq!(split(&[7, 8], &[0, 0], Some(0)), [vec![7], vec![8]]);
    }

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
