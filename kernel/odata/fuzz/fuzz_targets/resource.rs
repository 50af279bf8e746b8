//! Resource paths: parsing never panics, and what is parsed prints to what parses to the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use svc_odata::syntax::ResourcePath;

fuzz_target!(|path: &str| {
    let Ok(parsed) = ResourcePath::parse(path) else { return };
    let printed = parsed.to_string();
    assert_eq!(ResourcePath::parse(&printed).as_ref(), Ok(&parsed), "{printed}");
});
