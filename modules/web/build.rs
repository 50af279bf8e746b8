//! Puts the built web client into the program, where there is one; the README says when that is.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

const VARIABLE: &str = "SVC_WEB_CLIENT";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    let own = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../../web/dist");
    let asked = env::var_os(VARIABLE).map(PathBuf::from);
    let folder = asked.clone().unwrap_or(own);
    let is_built = folder.join("index.html").is_file();
    assert!(
        is_built || asked.is_none(),
        "`{VARIABLE}` names `{}`, where no web client is; build it with `npm run build` in `web/`",
        folder.display()
    );
    let mut code = "pub(crate) const FOLDER: &str = ".to_owned();
    let _ = writeln!(code, "{:?};", folder.display().to_string());
    code.push_str("pub(crate) static FILES: &[svc_http::EmbeddedFile] = &[\n");
    if is_built {
        let folder = folder.canonicalize().expect("a folder that was looked into");
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut files = Vec::new();
        collect(&folder, &mut files);
        files.sort();
        for file in files {
            let path = file.strip_prefix(&folder).expect("a file below the folder");
            let path = path.to_string_lossy().replace('\\', "/");
            let _ = writeln!(code, "({path:?}, include_bytes!({:?})),", file.display().to_string());
        }
    }
    code.push_str("];\n");
    let out = Path::new(&variable("OUT_DIR")).join("client.rs");
    fs::write(&out, code).expect("cargo's folder for what is made can be written");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets `{name}`"))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("a folder that can be read");
    for entry in entries {
        let path = entry.expect("an entry that can be read").path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}
