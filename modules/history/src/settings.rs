svc_core::settings_section! {
    /// History and audit log.
    pub struct HistorySettings in "Svc:History" {
        /// The events that the audit log keeps, by name, beside changes of records.
        pub audit_events: Vec<String> = [
            "identity.signed_in",
            "identity.signed_out",
            "identity.sign_in_refused",
            "identity.rights_changed",
            "identity.api_key_changed",
            "ApplicationSettingChanged",
            "SetExported",
            "AuditLogExported",
            "HistoryBlanked",
        ]
        .map(str::to_owned)
        .into();
        /// The events that the history of a record tells beside its changes, by name: those that say by `entityType` and
        /// `entityId` which record they are about. The audit log keeps them, too.
        pub record_events: Vec<String> = ["WorkflowTransitioned"].map(str::to_owned).into();
        /// How many days the history of records that belong to all organisations is kept. Each organisation says for its own
        /// by `History.RetentionDays`.
        pub shared_retention_days: u16 = 3_650, within(1..=36_500);
    }
}
