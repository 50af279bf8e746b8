//! Batches in both forms: reading them never panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use svc_odata::batch::{parse_json, parse_multipart};

fuzz_target!(|body: &[u8]| {
    let _ = parse_json(body, 100);
    let _ = parse_multipart(body, "b", 100);
});
