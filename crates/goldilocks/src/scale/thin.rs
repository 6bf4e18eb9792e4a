//! Shards with all questions → shards with as many of each class and split as the plan wants: the questions that one
//! machine would keep.

use questions::shards::ShardFile;
use questions::{
    EmptyFields, OpenOptions, QuestionSet, Sampler, Shortfall, Split, WordClass, parquet,
};
use rayon::prelude::*;

use super::{Plan, Receipt, Shard, files};
use crate::progress::check_cancelled;
use crate::{Error, Event, Reporter, Result, Warning};

/// For each class, which of its questions in a shard are kept, in their order.
type Kept = [Vec<bool>; WordClass::ALL.len()];

/// Drops the questions that are too many. Which, is drawn over all shards: the draws are made again from the first on,
/// from how many questions each shard was built with. A shard from which some were dropped before is left alone.
pub fn thin(plan: &Plan, receipts: &mut [Receipt], reporter: &dyn Reporter) -> Result<()> {
    let (options, counts) = (plan.options(), plan.counts());
    let found = |of_split: Split, class: WordClass| -> usize {
        let shards = plan.shards().iter().zip(&*receipts);
        let shards = shards.filter(|(shard, _)| shard.split == of_split);
        shards.map(|(_, receipt)| receipt.found()[class as usize]).sum()
    };
    let mut samplers = Split::ALL.map(|split| {
        WordClass::ALL
            .map(|class| Sampler::new(found(split, class), counts, options.seed, split, class))
    });
    for split in Split::ALL {
        for &class in &options.rules.classes {
            let found = found(split, class);
            if let Some(wanted) = counts.limit(split, class).filter(|&limit| found < limit) {
                let shortfall = Shortfall { split, class, wanted, found };
                let Shortfall { split, class, wanted, found } = shortfall;
                reporter.report(Event::Warning(Warning::Shortfall { split, class, found, wanted }));
            }
        }
    }
    let mut work: Vec<(&Shard, &mut Receipt, Kept)> = Vec::new();
    for (shard, receipt) in plan.shards().iter().zip(receipts) {
        let found = receipt.found();
        let samplers = &mut samplers[shard.split as usize];
        let kept: Kept = std::array::from_fn(|class| {
            (0..found[class]).map(|_| samplers[class].keep()).collect()
        });
        if receipt.kept.is_none() {
            work.push((shard, receipt, kept));
        }
    }
    let steps = Some(work.len());
    reporter.report(Event::Begin { stage: "thin", what: String::new(), steps });
    let thinned: Vec<Result<()>> = work
        .into_par_iter()
        .map(|(shard, receipt, kept)| {
            check_cancelled(reporter)?;
            thin_shard(plan, shard, receipt, &kept)?;
            reporter.report(Event::Step { n: 1, what: Some(shard.file.clone()) });
            Ok(())
        })
        .collect();
    reporter.report(Event::End);
    thinned.into_iter().collect()
}

fn thin_shard(plan: &Plan, shard: &Shard, receipt: &mut Receipt, kept: &Kept) -> Result<()> {
    let path = plan.folder().join(&shard.file);
    receipt.kept =
        Some(std::array::from_fn(|class| kept[class].iter().filter(|&&is_kept| is_kept).count()));
    if kept.iter().flatten().any(|&is_kept| !is_kept) {
        let file = ShardFile { path: path.clone(), split: shard.split };
        let (set, _) = parquet::read_files(&[file], &OpenOptions::default())?;
        let mut ids = Vec::with_capacity(set.len());
        parquet::read_ids(&path, |id| ids.push(id.to_owned()))?;
        let indices = indices(&set, kept).ok_or_else(|| {
            let message = "it has not the questions that its receipt says".to_owned();
            Error::Corrupt { path: path.clone(), message }
        })?;
        let some = set.select(&indices).map_err(|_| questions::Error::TooManyWords)?;
        (receipt.sha256, receipt.bytes) = files::write(&path, |out| {
            let mut writer = parquet::Writer::new(out, &path)?;
            writer.push(&some, &EmptyFields::default(), |place| ids[indices[place]].clone())?;
            receipt.rows = writer.finish()?;
            Ok(())
        })?;
    }
    receipt.write(plan, shard)
}

/// The places of the questions that are kept; none if there are not as many as were drawn for.
fn indices(set: &QuestionSet, kept: &Kept) -> Option<Vec<usize>> {
    let mut draws = kept.each_ref().map(|of_class| of_class.iter());
    let mut indices = Vec::new();
    for index in 0..set.len() {
        let class = set.example(index).class?;
        if *draws[class as usize].next()? {
            indices.push(index);
        }
    }
    draws.iter().all(|rest| rest.len() == 0).then_some(indices)
}
