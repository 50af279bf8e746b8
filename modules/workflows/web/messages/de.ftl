# Die Seiten des Moduls für Abläufe.
tasks-act = { $choice }: { $name }
tasks-all = Alle
tasks-app = Aufgaben
tasks-column-acts = Was Sie tun können
tasks-column-due = Fällig
tasks-column-facts = Worum es geht
tasks-column-name = Datensatz
tasks-column-set = Art
tasks-column-since = Seit
tasks-column-state = Zustand
tasks-comment-many = Der Kommentar gilt für jeden davon.
tasks-count = { $count }
tasks-many = { $title } ({ $count })
tasks-more = Mehr für { $name }
tasks-moved = { $refused ->
    [0] { $done ->
        [one] Ein Datensatz weitergeführt
       *[other] { $done } Datensätze weitergeführt
     }
   *[other] { $done } weitergeführt, { $refused } abgelehnt
 }
tasks-news = Neues zeigen
tasks-none = Nichts wartet auf Sie
tasks-none-of-set-text = Von dieser Art wartet nichts auf einen Schritt von Ihnen.
tasks-none-text = Datensätze, die auf einen Schritt von Ihnen warten, erscheinen hier von selbst.
tasks-nothing-possible = Noch ist nichts möglich
tasks-offer-of-set = { $title } ({ $count }, { $set })
tasks-or-more = { $count }+
tasks-order = Reihenfolge
tasks-order-due = Fällige zuerst
tasks-order-newest = Neueste zuerst
tasks-selected = { $count } ausgewählt
tasks-sets = Arten von Datensätzen
tasks-show-all = Alle Aufgaben zeigen

# Die Seiten derer, die Abläufe entwerfen.
designer-add-state = Neuer Zustand
designer-add-transition = Neuer Übergang
designer-app = Abläufe
designer-amount = { $label }: wie viele
designer-approvals = Wie viele Personen nötig sind
designer-automatic = Nimmt die Anwendung selbst nach
designer-automatic-transition = Was die Anwendung dann nimmt
designer-by = von { $name }
designer-by-note = Berechtigungen, „@creator“ oder die Eigenschaft, die eine Person nennt, etwa „@buyerId“.
designer-calls = Ruft auf
designer-change-added = neu
designer-change-changed = geändert
designer-change-removed = entfernt
designer-changes = Was sich ändert
designer-colour = Farbe
designer-colour-blue = Blau
designer-colour-green = Grün
designer-colour-grey = Grau
designer-colour-red = Rot
designer-colour-yellow = Gelb
designer-compare = Nebeneinander
designer-compare-drawn = Was gezeichnet ist
designer-compare-left = Was verglichen wird
designer-compare-right = Womit verglichen wird
designer-compare-same = Sie unterscheiden sich nicht.
designer-condition = Nur wenn
designer-condition-note = Ein Filter über den Datensatz, etwa „total gt 1000“.
designer-connecting = Ein Übergang von { $state }: Gehen Sie zum Zustand, in den er führt, und drücken Sie die Eingabetaste, oder Escape, um es zu lassen.
designer-declared = von der Anwendung
designer-drop = Entwurf verwerfen
designer-drop-text = Was seit der geltenden Fassung entworfen wurde, ist dann weg.
designer-due-in = Fällig innerhalb von
designer-escalates-to = Wer auch handeln kann, wenn es überfällig ist
designer-export = Als Datei ausgeben
designer-form = Was gewählt ist
designer-from = Von
designer-group = Gruppe { $name }
designer-group-add = Noch eine Gruppe von Personen
designer-group-remove = { $name } herausnehmen
designer-group-who = Wer dazugehört
designer-import = Datei einlesen
designer-in-sequence = Eine Gruppe nach der anderen
designer-in-force = Gilt
designer-is-draft = Entwurf, Fassung { $version } gilt
designer-is-unsaved = Nicht gespeichert
designer-is-version = Fassung { $version }
designer-kind = Art
designer-kind-final = Datensätze enden darin
designer-kind-initial = Datensätze beginnen darin
designer-kind-intermediate = Dazwischen
designer-lock = Sperrt diese Eigenschaften
designer-lock-note = Namen mit Kommas dazwischen; „*“ für den ganzen Datensatz.
designer-migrate = Datensätze auf die geltende Fassung umstellen
designer-migrate-from = Datensätze der
designer-migrate-none = Es gibt keine.
designer-migrate-state = { $count } in { $state } kommen nach
designer-migrate-text = Datensätze bleiben bei der Fassung, mit der sie begonnen haben, bis sie umgestellt werden. Sie kommen in die Fassung { $version }, in die Zustände, die hier gewählt sind.
designer-migrating = Die Datensätze werden umgestellt.
designer-name = Name
designer-name-note = Buchstaben und Ziffern, der erste klein; Programme kennen ihn darunter.
designer-needs-comment = Braucht einen Kommentar
designer-no-changes = Nichts weicht von der geltenden Fassung ab.
designer-no-json = Diese Datei ist kein JSON.
designer-no-problems = Alles in Ordnung
designer-no-time = Keine Zeit
designer-none = Hier wird kein Ablauf entworfen
designer-none-text = Die Anwendung gibt ihre Abläufe vor und lässt sie niemanden entwerfen.
designer-not-by-creator = Nicht, wer den Datensatz angelegt hat
designer-not-by-last = Nicht, wer den Schritt davor getan hat
designer-notifies = Benachrichtigt
designer-note = Was zu der Fassung zu sagen ist
designer-optional = Auf niemanden wird gewartet
designer-part = Zustand oder Übergang wählen
designer-picture = Der Ablauf als Bild
designer-picture-help = Ziehen Sie von einem Zustand zu einem anderen für einen Übergang. Mit der Tastatur: Pfeile gehen weiter, Eingabe wählt, N beginnt einen Übergang, Entf entfernt.
designer-possible = Möglich
designer-problem-count = { $count ->
    [one] Ein Problem
   *[other] { $count } Probleme
 }
designer-problems = Probleme
designer-publish = Veröffentlichen
designer-publish-text = Neue Datensätze in { $title } beginnen damit. Die es schon gibt, bleiben bei ihrer Fassung, bis sie umgestellt werden.
designer-role-more = Rolle hinzufügen
designer-role-not = Nicht die Rolle { $name }
designer-roles = { $label }: Rollen
designer-running = Datensätze, die bleiben
designer-running-none = Noch läuft kein Datensatz.
designer-running-version = { $count ->
    [one] Ein Datensatz bleibt
   *[other] { $count } Datensätze bleiben
 } bei Fassung { $version }: { $states }
designer-published = Fassung { $version } gilt jetzt.
designer-publishes = Veröffentlicht
designer-reminds-after = Erinnert nach
designer-remove = Entfernen
designer-save = Entwurf speichern
designer-saved = Der Entwurf ist gespeichert.
designer-set = Datensätze
designer-sets = Setzt
designer-sets-comment = den Kommentar
designer-sets-me = wer ihn nimmt
designer-sets-more = Eine Eigenschaft setzen
designer-sets-not = { $name } nicht setzen
designer-sets-now = die Zeit
designer-sets-value = diesen Wert
designer-sets-what = Worauf { $name } gesetzt wird
designer-state = Zustand
designer-state-label = { $title }, { $kind }
designer-states = Zustände
designer-tab-draw = Entwerfen
designer-tab-versions = Fassungen
designer-take = Von dieser ausgehen
designer-title = Wie man ihn nennt
designer-to = Nach
designer-transition = Übergang
designer-transitions = Übergänge
designer-try = Mit einem Datensatz ausprobieren
designer-try-in = Im Zustand
designer-try-own = Der, in dem er ist
designer-try-record = Datensatz
designer-try-state = In { $state } könnten Sie:
designer-undo = Zurücknehmen
designer-unit-days = Tagen
designer-unit-hours = Stunden
designer-unit-workingDays = Arbeitstagen
designer-warning-count = { $count ->
    [one] Etwas ist zu bedenken
   *[other] { $count } Dinge sind zu bedenken
 }
designer-version = Fassung { $version }
designer-who = Wer ihn nehmen kann

hand-on = Weitergeben
hand-on-reason = Warum
hand-on-text = { $name } kann dann jemand anders weiterbringen, solange es in seinem Zustand ist.
hand-on-to = An wen
handed-on = { $name } ist weitergegeben.
standing-in = Vertretung
standing-in-begin = Vertreten lassen
standing-in-begun = { $to } vertritt Sie.
standing-in-end = Vertretung durch { $to } beenden
standing-in-from = Ab
standing-in-line = { $to } für { $from }
standing-in-named = Nach Namen suchen
standing-in-nobody = So heißt niemand
standing-in-none = Niemand vertritt Sie, und Sie vertreten niemanden.
standing-in-reason = Warum, wenn Sie mögen
standing-in-to = Wer Sie vertritt
standing-in-until = Bis zum Ende von
