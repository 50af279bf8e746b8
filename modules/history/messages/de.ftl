permission-History-View = Sehen und zurücknehmen, was mit Datensätzen geschehen ist
permission-History-Audit = Sehen, was in der Organisation geschehen ist, und es zurücknehmen
