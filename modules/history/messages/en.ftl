permission-History-View = See and take back what happened to records
permission-History-Audit = See what happened in the organisation, and take it back
