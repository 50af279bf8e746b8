# Die Kontoseiten.

identity-email = E-Mail-Adresse
identity-password = Passwort
identity-new-password = Neues Passwort
identity-new-password-hint = Mindestens { $min } Zeichen. Ein paar Wörter hintereinander sind leicht zu merken und schwer zu erraten.
identity-repeat-password = Passwort noch einmal
identity-display-name = Ihr Name
identity-cancel = Abbrechen
identity-back = Zurück zur Anmeldung
identity-language = Sprache

identity-sign-in-title = Anmelden
identity-sign-in-button = Anmelden
identity-sign-in-forgotten = Passwort vergessen?
identity-sign-in-refused = Adresse und Passwort passen nicht zusammen. Prüfen Sie beides, oder setzen Sie ein neues Passwort.
identity-sign-in-no-organisation = Ihr Konto gehört zu keiner Organisation. Fragen Sie, wer Sie eingeladen hat.
identity-signed-in = Sie sind angemeldet
identity-going-on = Sie werden zurückgeleitet. Falls nichts geschieht, nehmen Sie diesen Link:
identity-go-on = Weiter

identity-external-or = Andere Wege, sich anzumelden
identity-external-button = Mit { $issuer } anmelden
identity-external-lost = Diese Anmeldung wurde nicht in diesem Browser begonnen, oder sie hat zu lange gedauert. Melden Sie sich noch einmal an.
identity-external-refused = Dort wurden Sie nicht angemeldet. Melden Sie sich noch einmal an, oder fragen Sie Ihre Administration.
identity-external-no-organisation = Ihr Konto ist bekannt, gehört hier aber zu keiner Organisation. Fragen Sie Ihre Administration.
identity-external-no-address = Ihr Konto nennt keine Mailadresse, und hier wird eine gebraucht. Fragen Sie Ihre Administration.
identity-external-address-taken = Ihre Mailadresse hat hier schon jemand. Wenn Sie das sind, melden Sie sich mit Ihrem Passwort an; sonst fragen Sie Ihre Administration.
identity-external-disabled = Ihr Konto ist hier abgeschaltet. Fragen Sie Ihre Administration.
identity-external-away = { $issuer } ist im Augenblick nicht erreichbar. Melden Sie sich auf anderem Weg an, oder versuchen Sie es in einigen Minuten noch einmal.
identity-external-others = Zu den anderen Wegen

identity-accounts-title = Konten anderswo
identity-accounts-lead = Ein Konto, das Sie anderswo haben, meldet Sie hier an, sobald es verknüpft ist.
identity-accounts-change = Verknüpfen oder lösen
identity-accounts-link = Konto bei { $issuer } verknüpfen
identity-accounts-off = Lösen
identity-accounts-off-label = Konto bei { $issuer } lösen
identity-accounts-linked = Das Konto ist verknüpft. Sie können sich von nun an damit anmelden.
identity-accounts-unlinked = Das Konto ist gelöst. Es öffnet hier nichts mehr.
identity-accounts-last = Sonst kämen Sie nicht mehr herein. Setzen Sie zuerst ein Passwort oder fügen Sie einen Passkey hinzu.
identity-accounts-unknown = Dieses Konto ist nicht mehr mit Ihnen verknüpft.
identity-accounts-taken = Dieses Konto gehört hier jemand anderem, oder Sie haben so viele, wie es geben darf. Melden Sie sich damit an, um zu sehen, wem es gehört.

identity-sign-out-title = Abmelden
identity-sign-out-question = Möchten Sie sich als { $name } abmelden?
identity-sign-out-button = Abmelden
identity-sign-out-stay = Angemeldet bleiben
identity-signed-out = Sie sind abgemeldet
identity-signed-out-detail = Sie können diese Seite schließen oder sich wieder anmelden.

identity-wait = Es gab zu viele Versuche. Versuchen Sie es in { $minutes ->
    [one] einer Minute
   *[other] { $minutes } Minuten
 } noch einmal, oder setzen Sie ein neues Passwort.

identity-set-up-title = { $application } einrichten
identity-set-up-lead = Benennen Sie Ihre Organisation und legen Sie das erste Konto an. Es darf alles; alles Weitere lässt sich später ändern.
identity-set-up-organisation = Organisation
identity-set-up-organisation-hint = So, wie Ihre Kolleginnen und Kollegen sie nennen
identity-set-up-you = Ihr Konto
identity-set-up-button = Einrichten

identity-organisation-title = Organisation wählen
identity-organisation-lead = Was Sie sehen und ändern, gehört zu der, die Sie wählen.
identity-organisation-current = jetzt gewählt

identity-account-title = Ihr Konto
identity-account-person = Über Sie
identity-account-organisation = Organisation
identity-account-organisation-change = Wechseln
identity-account-app = Zurück zu { $application }

identity-details-change = Name oder Adresse ändern
identity-details-changed = Ihr Name ist geändert.
identity-save = Speichern
identity-address-hint = Eine neue Adresse gilt, sobald Sie den Link geöffnet haben, den wir dorthin schicken.
identity-address-password = Nur für eine neue Adresse nötig
identity-address-sent = Sehen Sie in die Post Ihrer neuen Adresse. Sie gilt, sobald Sie den Link geöffnet haben, den wir dorthin geschickt haben.
identity-address-title = Ihre neue Adresse
identity-address-lead = Nehmen Sie von nun an die Adresse, an die dieser Link ging.
identity-address-button = Diese Adresse nehmen
identity-address-changed = Das ist jetzt Ihre Adresse. Melden Sie sich von nun an mit ihr an.
identity-address-taken = Inzwischen hat ein anderes Konto diese Adresse; Ihre bleibt, wie sie ist.

identity-password-title = Passwort
identity-password-current = Aktuelles Passwort
identity-password-none = Sie haben kein Passwort. Sie melden sich auf anderem Weg an.
identity-password-change = Passwort ändern
identity-password-changed = Ihr Passwort ist geändert. Überall sonst sind Sie abgemeldet.
identity-password-wrong = Das ist nicht Ihr aktuelles Passwort.
identity-password-differs = Die beiden Passwörter unterscheiden sich.
identity-password-consequence = Hier bleiben Sie angemeldet, überall sonst werden Sie abgemeldet.

identity-sessions-title = Wo Sie angemeldet sind
identity-session-this = dieser Browser
identity-session-program = arbeitet ohne Browser weiter
identity-session-program-ended = Das Programm hat keinen Zugang mehr.
identity-session-unknown = Unbekannter Browser
identity-session-on = { $browser } unter { $system }
identity-session-used = Zuletzt benutzt { DATETIME($at, dateStyle: "medium", timeStyle: "short") }
identity-session-used-now = Gerade eben benutzt
identity-session-from = von { $address }
identity-session-end = Abmelden
identity-session-end-label = { $session } abmelden
identity-sessions-end-others = Überall sonst abmelden
identity-session-ended = Dieser Browser ist abgemeldet.
identity-sessions-ended = Überall sonst sind Sie abgemeldet.

identity-forgotten-title = Neues Passwort setzen
identity-forgotten-lead = Geben Sie die Adresse Ihres Kontos an. Wir schicken einen Link, mit dem Sie ein neues Passwort setzen.
identity-forgotten-button = Link schicken
identity-forgotten-sent = Sehen Sie in Ihre Post
identity-forgotten-sent-detail = Falls es ein Konto mit der Adresse { $email } gibt, ist ein Link dorthin unterwegs. Er gilt { $minutes } Minuten.

identity-reset-title = Neues Passwort setzen
identity-reset-lead = Für { $email }. Wo immer Sie angemeldet sind, werden Sie abgemeldet.
identity-reset-button = Passwort setzen und anmelden

identity-invitation-title = Willkommen
identity-invitation-lead = { $organisation } hat Sie als { $email } eingeladen. Wählen Sie ein Passwort, und Sie sind dabei.
identity-invitation-join-lead = { $organisation } hat Sie als { $email } eingeladen.
identity-invitation-button = Annehmen
identity-invitation-sign-in = Melden Sie sich zuerst als { $email } an, damit wir wissen, dass Sie es sind.

identity-link-ended = Dieser Link gilt nicht mehr
identity-link-ended-detail = Er wurde schon benutzt oder ist zu alt. Lassen Sie sich einen neuen schicken.

identity-second-factor-title = Noch ein Schritt
identity-second-factor-code = Code Ihrer Authenticator-App
identity-second-factor-code-hint = Sechs Ziffern
identity-second-factor-recovery = Stattdessen einen Wiederherstellungscode benutzen
identity-second-factor-recovery-code = Wiederherstellungscode
identity-second-factor-app = Stattdessen die Authenticator-App benutzen
identity-second-factor-wrong = Dieser Code stimmt nicht oder wurde schon benutzt. Warten Sie auf den nächsten.
identity-second-factor-recovery-wrong = Das ist keiner Ihrer Wiederherstellungscodes, oder er wurde schon benutzt.
identity-second-factor-ended = Es hat zu lange gedauert. Melden Sie sich noch einmal an.

identity-totp-title = Zweiter Schritt
identity-totp-off = Aus. Sie werden nicht nach einem Code gefragt.
identity-totp-on = An. Sie werden nach einem Code Ihrer Authenticator-App gefragt.
identity-totp-recovery-left = { $count ->
    [0] Sie haben keinen Wiederherstellungscode mehr.
    [one] Sie haben noch einen Wiederherstellungscode.
   *[other] Sie haben noch { $count } Wiederherstellungscodes.
 }
identity-totp-set-up = Einrichten
identity-totp-remove = Ausschalten
identity-totp-change = Ändern
identity-totp-set-up-title = Zweiten Schritt einrichten
identity-totp-set-up-lead = Fügen Sie dieses Konto einer Authenticator-App auf Ihrem Telefon hinzu: Scannen Sie das Bild, oder tippen Sie den Schlüssel ab.
identity-totp-picture = Bild für die Authenticator-App
identity-totp-key = Schlüssel
identity-totp-code = Code, den die App jetzt zeigt
identity-totp-switch-on = Einschalten
identity-totp-wrong = Das ist nicht der Code, den die App jetzt zeigt. Prüfen Sie, ob die Uhr Ihres Telefons stimmt.
identity-totp-is-on = Der zweite Schritt ist an.
identity-totp-is-off = Der zweite Schritt ist aus.
identity-recovery-title = Wiederherstellungscodes
identity-recovery-lead = Heben Sie diese Codes dort auf, wo Sie sie finden, wenn Ihr Telefon fort ist. Jeder gilt einmal. Sie werden nur jetzt gezeigt.
identity-recovery-new = Neue Codes machen
identity-recovery-done = Ich habe sie aufgehoben
identity-recovery-renewed = Ihre früheren Codes öffnen nichts mehr.
identity-recovery-lost = Passkey verloren?
identity-recovery-lost-lead = Wer sich nur mit einem Passkey anmeldet, kommt mit einem Wiederherstellungscode herein und fügt dann einen neuen Passkey hinzu. Wenn Sie ein Passwort haben oder ein Konto anderswo, das Sie anmeldet, beginnen Sie damit; der Code kommt danach.
identity-recovery-refused = Dieser Code öffnet nichts: Er ist keiner von unseren, wurde schon benutzt oder gehört jemandem, der sich zuerst anders anmeldet.

identity-passkeys-title = Passkeys
identity-passkeys-lead = Ein Passkey ist ein Schlüssel, den Ihr Telefon, Ihr Rechner oder ein Sicherheitsschlüssel für Sie verwahrt. Er meldet Sie ohne Passwort an und gilt als zweiter Schritt.
identity-passkeys-count = { $count ->
    [0] Noch keiner.
    [one] Einer. Er meldet Sie an und wird nach dem Passwort verlangt.
   *[other] { $count }. Jeder meldet Sie an, und einer wird nach dem Passwort verlangt.
 }
identity-passkeys-change = Hinzufügen oder ändern
identity-passkeys-yours = Ihre Passkeys
identity-passkey-name = Name
identity-passkey-name-hint = An dem Sie ihn erkennen, etwa: mein Telefon
identity-passkey-used = Zuletzt benutzt { DATETIME($at, dateStyle: "medium", timeStyle: "short") }
identity-passkey-unused = Noch nicht benutzt
identity-passkey-remove = Entfernen
identity-passkey-remove-label = { $name } entfernen
identity-passkey-rename = Namen speichern
identity-passkey-password = Nur nötig, um einen zu entfernen
identity-passkey-add = Passkey hinzufügen
identity-passkey-go-on = Weiter
identity-passkey-make-lead = Ihr Browser fragt, welches Gerät ihn verwahren soll, und prüft, dass Sie es sind.
identity-passkey-make = Passkey anlegen
identity-passkey-sign-in = Mit Passkey anmelden
identity-passkey-use = Passkey verwenden
identity-passkey-instead = Stattdessen einen Passkey verwenden
identity-passkey-failed = Der Browser hat keinen Passkey benutzt. Versuchen Sie es noch einmal oder auf anderem Weg.
identity-passkey-refused = Dieser Passkey öffnet das Konto nicht. Versuchen Sie es noch einmal oder melden Sie sich anders an.
identity-passkey-not-added = Dieser Passkey ließ sich nicht hinzufügen. Versuchen Sie es noch einmal; Sie können höchstens { $most } haben, jeden einmal.
identity-passkey-no-script = Passkeys brauchen JavaScript, das in diesem Browser ausgeschaltet ist.
identity-passkey-number = Browser verwahren Passkeys für Adressen mit einem Namen, und diese hier ist eine Zahl. Öffnen Sie sie mit ihrem Namen; auf dem eigenen Rechner ist das localhost.
identity-passkey-added = Der Passkey ist hinzugefügt. Von nun an wird er nach Ihrem Passwort verlangt.
identity-passkey-removed = Der Passkey ist entfernt.
identity-passkey-last = Sonst kämen Sie nicht mehr herein. Fügen Sie zuerst einen weiteren Passkey hinzu, oder setzen Sie ein Passwort.
identity-passkey-renamed = Die Namen sind gespeichert.

identity-error-title = Das hat nicht geklappt
identity-error-form = Die Seite war zu lange offen, oder sie wurde von anderswo abgeschickt. Gehen Sie zurück, laden Sie sie neu und schicken Sie sie noch einmal ab.
identity-error-cookies = Ihr Browser hat kein Cookie mitgeschickt. Cookies dieser Seite müssen erlaubt sein, und die Adresse muss mit https:// beginnen.
identity-error-busy = Gerade ist viel los. Versuchen Sie es in einigen Sekunden noch einmal.
identity-error-missing = Unter dieser Adresse gibt es nichts.
identity-error-server = Der Fehler liegt bei uns und ist notiert. Versuchen Sie es etwas später noch einmal.
identity-error-unknown-client = Das Programm, das Sie hierher geschickt hat, ist nicht registriert. Sagen Sie es seinem Betreiber; Ihr Konto ist nicht in Gefahr.
identity-error-foreign-redirect = Das Programm, das Sie hierher geschickt hat, will Sie an eine Adresse schicken lassen, die nicht für es registriert ist; darum bleiben Sie hier. Sagen Sie es seinem Betreiber.
identity-error-bad-request = Das Programm, das Sie hierher geschickt hat, hat die Anmeldung so verlangt, dass es nicht zu lesen ist. Gehen Sie dorthin zurück und melden Sie sich noch einmal an; hilft das nicht, sagen Sie es seinem Betreiber.
identity-error-unknown-address = Diese Anwendung kennt die Adresse in Ihrem Browser nicht als ihre eigene. Nehmen Sie die Adresse, die Sie bekommen haben, oder sagen Sie es dem Betreiber.
identity-error-reference = Kennung: { $id }

identity-invalid-empty = Füllen Sie dieses Feld aus.
identity-invalid-name = Höchstens 200 Zeichen in einer Zeile.
identity-invalid-email = Geben Sie eine E-Mail-Adresse an, zum Beispiel ada@example.com.
identity-invalid-password-short = Mindestens { $min } Zeichen.
identity-invalid-password-long = Höchstens 128 Zeichen.
identity-invalid-password-common = Viele benutzen dieses Passwort, deshalb wird es zuerst probiert. Wählen Sie ein anderes.
identity-invalid-password-self = Nehmen Sie nicht Ihren Namen oder Ihre Adresse als Passwort.

# Mails.

identity-mail-reset-subject = Neues Passwort für { $application } setzen
identity-mail-reset-text = Jemand, wahrscheinlich Sie, hat um ein neues Passwort für { $application } gebeten.
    Setzen Sie es hier innerhalb von { $minutes } Minuten:

    { $link }

    Falls Sie es nicht waren, ist nichts zu tun: Ihr Passwort bleibt, wie es ist.
identity-mail-address-subject = Ihre neue Adresse für { $application }
identity-mail-address-text = Jemand, vermutlich Sie, möchte diese Adresse für { $application } verwenden.
    Bestätigen Sie sie hier innerhalb von { $hours } Stunden:

    { $link }

    Wenn Sie das nicht waren, müssen Sie nichts tun.
identity-mail-address-old-subject = Eine andere Adresse für Ihr Konto bei { $application }
identity-mail-address-old-text = Jemand, vermutlich Sie, möchte { $address } statt dieser Adresse für { $application } verwenden.
    Diese Adresse gilt, bis die neue bestätigt ist.

    Wenn Sie das nicht waren, ändern Sie Ihr Passwort: Das verhindert es.
identity-mail-invitation-subject = { $organisation } hat Sie zu { $application } eingeladen
identity-mail-invitation-text = { $organisation } hat Sie zu { $application } eingeladen.
    Nehmen Sie hier innerhalb von { $days } Tagen an:

    { $link }

    Falls Sie nicht wissen, warum: Lassen Sie diese Mail unbeachtet.
