use std::time::Duration;

use serde::{Deserialize, Serialize};
use svc_core::{Kind, Module, Registry, Result};
use svc_data::DataModule;
use svc_jobs::{Job, JobContext, JobsModule, JobsRegistry as _, Schedule, kinds};

#[derive(Serialize, Deserialize)]
struct Sweep {}

impl Job for Sweep {
    const NAME: &'static str = "shop.sweep";
    const MAX_ATTEMPTS: u32 = 1;
    const TIMEOUT: Option<Duration> = None;
}

async fn sweep(_: JobContext, _: Sweep) -> Result<()> {
    Ok(())
}

#[derive(Serialize, Deserialize)]
struct Misnamed {}

impl Job for Misnamed {
    const NAME: &'static str = "Sweep The Shop";
}

#[derive(Serialize, Deserialize)]
struct Never {}

impl Job for Never {
    const NAME: &'static str = "shop.never";
    const MAX_ATTEMPTS: u32 = 0;
}

struct Shop(fn(&mut Registry));

impl Module for Shop {
    fn configure(&self, registry: &mut Registry) {
        self.0(registry);
    }
}

fn assemble(configure: fn(&mut Registry)) -> Result<svc_core::Assembly, String> {
    Registry::assemble(vec![Box::new(DataModule), Box::new(JobsModule), Box::new(Shop(configure))])
        .map_err(|error| error.to_string())
}

#[test]
fn a_module_lists_its_jobs_and_schedules() {
    let assembly = assemble(|registry| {
        registry.job::<Sweep>(sweep);
        let daily = Schedule::cron("0 30 4 * * *").time_zone("Europe/Berlin");
        registry.schedule("shop.sweep-daily", daily, || Sweep {});
    })
    .unwrap();
    let contributions = &assembly.modules().last().unwrap().contributions;
    let lines: Vec<(Kind, &str, &str)> = contributions
        .iter()
        .map(|added| (added.kind, added.name.as_str(), added.detail.as_str()))
        .collect();
    assert_eq!(
        lines,
        [
            (kinds::JOB, "shop.sweep", "1 attempt"),
            (kinds::SCHEDULE, "shop.sweep-daily", "`0 30 4 * * *` Europe/Berlin: shop.sweep"),
        ]
    );
}

#[test]
fn what_is_wrong_is_told_at_the_start() {
    let problem = |configure| assemble(configure).err().unwrap();
    let misnamed = problem(|registry| {
        registry.job::<Misnamed>(async |_: JobContext, _: Misnamed| Ok::<_, svc_core::Error>(()));
    });
    assert!(misnamed.contains("module `shop`: the job `Sweep The Shop`"), "{misnamed}");
    let never = problem(|registry| {
        registry.job::<Never>(async |_: JobContext, _: Never| Ok::<_, svc_core::Error>(()));
    });
    assert!(never.contains("0 attempts"), "{never}");
    let pattern = problem(|registry| {
        registry.schedule("shop.sweep", "at noon", || Sweep {});
    });
    assert!(pattern.contains("the schedule `shop.sweep` has the cron pattern `at noon`"));
    let twice = problem(|registry| {
        registry.job::<Sweep>(sweep);
        registry.job::<Sweep>(sweep);
    });
    assert!(twice.contains("`shop.sweep` is already among the jobs"), "{twice}");
}
