//! What several files need.

use e2e_identity::{House, Program};
use svc::identity::clients::{self, NewClient};

/// Where the programs of the tests want their codes.
pub(crate) const CALLBACK: &str = "https://app.example/cb";

/// A registered program with a secret.
pub(crate) async fn confidential(house: &House) -> Program {
    program(house, NewClient { name: "Portal".to_owned(), ..NewClient::default() }).await
}

/// A registered program without one.
pub(crate) async fn public(house: &House) -> Program {
    let new = NewClient {
        name: "Phone".to_owned(),
        is_public: true,
        origins: vec!["https://app.example".to_owned()],
        ..NewClient::default()
    };
    program(house, new).await
}

pub(crate) async fn program(house: &House, new: NewClient) -> Program {
    let new = NewClient {
        redirect_uris: vec![CALLBACK.to_owned()],
        signed_out_uris: vec!["https://app.example/bye".to_owned()],
        ..new
    };
    let (id, secret) = clients::create(&house.within(), new).await.unwrap();
    let secret = secret.as_ref().map(svc::core::settings::Secret::expose);
    Program::new(house.node.anonymous(), &id.to_string(), secret, CALLBACK)
}
