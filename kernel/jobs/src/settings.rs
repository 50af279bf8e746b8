use std::time::Duration;

use svc_core::settings::SectionProblems;

svc_core::settings_section! {
    /// How background jobs are run.
    pub struct JobsSettings in "Svc:Jobs" {
        /// Whether this node runs jobs and schedules. A node that doesn't still enqueues them.
        pub run: bool = true;
        /// Jobs that run at once on this node, at most; those of one organisation have half of these places.
        pub concurrency: u16 = 100, within(1..=500);
        /// How long a node may stay silent before its jobs are given to others.
        pub lease: Duration = seconds(60), within(seconds(5)..=hours(1));
        /// How often a node says that it is still there; at most half of `Lease`.
        pub heartbeat: Duration = seconds(15), within(seconds(1)..=minutes(30));
        /// How often a node looks for jobs without being woken: the safety net for a wake-up
        /// that got lost.
        pub poll_interval: Duration = seconds(5), within(milliseconds(100)..=minutes(10));
        /// How long a job that was cancelled may take to end by itself before it is broken off.
        pub cancel_grace: Duration = seconds(10), at_most(minutes(10));
        /// How long running jobs may go on when the application stops; what isn't finished then
        /// is handed back, and runs again elsewhere or after the next start.
        pub shutdown_grace: Duration = seconds(20), at_most(minutes(10));
        /// How long cancelled jobs, and finished ones that somebody watches, stay in the list.
        pub finished_retention: Duration = days(1), at_most(days(3_650));
        /// How long dead jobs stay in the list. Zero keeps them until somebody discards them.
        pub dead_retention: Duration = days(30), at_most(days(3_650));
    }
    validate: check_heartbeat;
}

fn check_heartbeat(settings: &JobsSettings, problems: &mut SectionProblems) {
    if settings.heartbeat * 2 > settings.lease {
        problems.add("Heartbeat", "at most half of `Lease`");
    }
}
