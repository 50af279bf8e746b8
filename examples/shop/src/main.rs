//! The sample shop as a program; `shop --help` says what it can do.

use std::process::ExitCode;

use shop::Shop;
use svc::prelude::*;

#[tokio::main]
async fn main() -> ExitCode {
    svc::application("shop")
        .version(env!("CARGO_PKG_VERSION"))
        .module(Identity)
        .module(Bff)
        .module(WebClient::new())
        .module(Webhooks)
        .module(History)
        .module(Search)
        .module(Workflows)
        .module(Shop)
        .main()
        .await
}
