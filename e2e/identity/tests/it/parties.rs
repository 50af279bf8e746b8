//! Clients, and an issuer, that nobody here wrote.

use e2e_identity::RunningShop;
use svc_testing::on_both_databases;

on_both_databases! {
    async fn openid_client_signs_people_in(backend) {
        RunningShop::start(backend).await.node_test("openid-client.test.mjs");
    }

    async fn oidc_client_ts_signs_people_in(backend) {
        RunningShop::start(backend).await.node_test("oidc-client-ts.test.mjs");
    }

    async fn people_use_the_account_pages_in_chromium(backend) {
        RunningShop::start(backend).await.browser_test("pages.test.mjs").await;
    }

    async fn openid_client_signs_people_in_through_a_browser_host(backend) {
        RunningShop::start_behind_host(backend).await.node_test("openid-client.test.mjs");
    }

    async fn people_use_the_account_pages_through_a_browser_host(backend) {
        RunningShop::start_behind_host(backend).await.browser_test("pages.test.mjs").await;
    }

    async fn a_page_in_chromium_uses_the_api_through_a_proxy_and_a_browser_host(backend) {
        RunningShop::start_behind_proxy(backend).await.browser_test("browser-host.test.mjs").await;
    }

    async fn people_of_oidc_provider_sign_in(backend) {
        RunningShop::start(backend).await.node_test("oidc-provider.test.mjs");
    }
}
