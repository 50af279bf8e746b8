use svc_testing::Backend;

use crate::fixture::{ADA, Call, EVE, Fixture};

#[tokio::test]
async fn a_caller_is_who_the_credential_says() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    assert_eq!(fixture.get("/try/who").await.text(), "nobody");
    assert_eq!(fixture.send(Call::get("/try/who").by(ADA)).await.text(), "Ada");
    assert_eq!(fixture.send(Call::get("/try/who").by(EVE)).await.text(), "Eve");
}

#[tokio::test]
async fn a_credential_that_does_not_hold_is_never_anonymous() {
    let fixture = Fixture::start(Backend::Sqlite).await;
    for token in ["Bearer revoked", "Bearer unknown", "Basic YTpi", "nonsense"] {
        // The first route also serves callers without a credential.
        for path in ["/try/who", "/api/v1/items"] {
            let refused = fixture.send(Call::get(path).by(token)).await;
            refused.problem(401);
            let challenge = refused.header("www-authenticate");
            assert_eq!(challenge, "Bearer error=\"invalid_token\"", "{path} {token}");
        }
    }
}
