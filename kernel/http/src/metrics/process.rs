//! The process itself, under the names that Prometheus clients share.

use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;

/// Reads what the operating system knows of the process whenever somebody scrapes. Where there is
/// no `/proc` only the time of the start is told.
#[derive(Debug)]
pub(super) struct Process {
    started_us: i64,
}

impl Process {
    pub(super) fn new(started_us: i64) -> Self {
        Self { started_us }
    }
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let whole = self.started_us.div_euclid(1_000_000);
        let started = ConstGauge::new(whole);
        let help = "Start of the application, in Unix time.";
        let unit = Some(&Unit::Seconds);
        started.encode(encoder.encode_descriptor(
            "process_start_time",
            help,
            unit,
            started.metric_type(),
        )?)?;
        if let Some(bytes) = resident_bytes() {
            let gauge = ConstGauge::new(bytes);
            let help = "Resident memory.";
            gauge.encode(encoder.encode_descriptor(
                "process_resident_memory",
                help,
                Some(&Unit::Bytes),
                gauge.metric_type(),
            )?)?;
        }
        if let Some(count) = open_files() {
            let gauge = ConstGauge::new(count);
            let help = "Open files and sockets.";
            gauge.encode(encoder.encode_descriptor(
                "process_open_fds",
                help,
                None,
                gauge.metric_type(),
            )?)?;
        }
        Ok(())
    }
}

fn resident_bytes() -> Option<i64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: i64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

fn open_files() -> Option<i64> {
    i64::try_from(fs::read_dir("/proc/self/fd").ok()?.count()).ok()
}
