//! The program itself, as an operator starts it.

use std::process::Command;

#[test]
fn the_program_tells_what_it_is() {
    let said = Command::new(env!("CARGO_BIN_EXE_office"))
        .args(["metadata", "--set", "Invoices"])
        .output()
        .expect("the program starts");
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    assert!(text.contains("invoiceLines"), "{text}");
}
