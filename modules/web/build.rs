//! Puts the built web client into the program, where there is one; the README says when that is.
//!
//! The files are copied to where cargo keeps what build scripts make, so that a client that is built anew while the program is
//! compiled takes nothing away from under the compiler. A folder that isn't there is made, empty: cargo sees then that files come
//! into it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs, io};

const VARIABLE: &str = "SVC_WEB_CLIENT";
const PAGE: &str = "index.html";
/// How often the folder is read anew because a build of the client has just put another one in its place.
const MOST_READS: usize = 5;

/// What the client is made of, by the files' names below its folder.
type Files = BTreeMap<String, Vec<u8>>;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    let own = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../../web/dist");
    let asked = env::var_os(VARIABLE).map(PathBuf::from);
    if asked.is_none() && fs::create_dir(&own).is_ok() {
        // Cargo would run this each time, and build the program anew, for a folder that isn't there, and once more for one
        // that is newer than this run.
        let _ = File::open(&own).and_then(|made| made.set_modified(SystemTime::UNIX_EPOCH));
    }
    let folder = asked.clone().unwrap_or(own);
    let is_built = folder.join(PAGE).is_file();
    assert!(
        is_built || asked.is_none(),
        "`{VARIABLE}` names `{}`, where no web client is; build it with `npm run build` in `web/`",
        folder.display()
    );
    if folder.is_dir() {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    let files = if is_built { read(&folder) } else { Files::new() };
    let out = PathBuf::from(variable("OUT_DIR"));
    let code = write(&out.join("client"), &folder, &files);
    fs::write(out.join("client.rs"), code).expect("cargo's folder for what is made can be written");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets `{name}`"))
}

/// The files of one build of the client. The page names all others by their hashes, so a page that is the same before and after
/// says that nothing took the folder's place meanwhile.
fn read(folder: &Path) -> Files {
    let mut last = None;
    for _ in 0..MOST_READS {
        match read_once(folder) {
            Ok(Some(files)) => return files,
            Ok(None) => last = None,
            Err(error) => last = Some(error),
        }
    }
    let why = last.map_or_else(|| "it changes all the time".to_owned(), |error| error.to_string());
    panic!("the web client in `{}` can't be read: {why}; build the program anew", folder.display())
}

/// None where another build took the folder's place.
fn read_once(folder: &Path) -> io::Result<Option<Files>> {
    let page = fs::read(folder.join(PAGE))?;
    let mut files = Files::new();
    collect(folder, "", &mut files)?;
    Ok((fs::read(folder.join(PAGE))? == page).then_some(files))
}

fn collect(folder: &Path, above: &str, files: &mut Files) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{above}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(())
}

/// Keeps the files, and gives the code that names them.
fn write(kept: &Path, folder: &Path, files: &Files) -> String {
    if kept.exists() {
        fs::remove_dir_all(kept).expect("what an earlier build kept can be removed");
    }
    let mut code = format!("pub(crate) const FOLDER: &str = {:?};\n", folder.display().to_string());
    code.push_str("pub(crate) static FILES: &[svc_http::EmbeddedFile] = &[\n");
    for (name, content) in files {
        let copy = kept.join(name);
        let parent = copy.parent().expect("a file lies in a folder");
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&copy, content))
            .expect("cargo's folder can be written");
        let _ = writeln!(code, "({name:?}, include_bytes!({:?})),", copy.display().to_string());
    }
    code.push_str("];\n");
    code
}
