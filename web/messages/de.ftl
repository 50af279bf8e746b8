# Was die Anwendung sagt. Listen und Felder haben eigene Texte, von den Modulen, zu denen sie gehören.

## Überall
cancel = Abbrechen
close = Schließen
columns = Spalten
copy = Kopieren
copied = { $count ->
    [one] Eine Zeile kopiert
   *[other] { $count } Zeilen kopiert
 }
due = Fällig
done = Fertig
delete = Löschen
discard = Verwerfen
filter = Filtern
loading = Lädt …
moved = Sie arbeiten jetzt in einer anderen Organisation
moved-text = Sie haben in einem anderen Tab gewechselt. Diese Seite zeigt die vorige Organisation; hier lässt sich nichts mehr speichern.
more = Mehr
no = Nein
open = Öffnen
open-named = { $name } öffnen
save = Speichern
search = Suchen
search-in = { $name } durchsuchen
print-list = Drucken
overdue = Überfällig
print-part = { $shown } von { $total }
search-records = Datensätze
search-rest = Alle Treffer in { $name }
time-now = gerade eben
try-again = Noch einmal versuchen
undo = Rückgängig
refused-data-check = Der Datensatz verletzt eine Regel der Datenbank.
refused-data-in-use = Andere Datensätze verweisen auf diesen. Ändern oder löschen Sie erst jene.
refused-data-reference = Ein Datensatz, auf den dieser verweist, ist nicht da oder wird noch gebraucht.
refused-data-unique = Einen Datensatz mit diesen Werten gibt es schon.
refused-http-other-organisation = Diese Seite zeigt eine andere Organisation als die, in der Sie jetzt arbeiten. Laden Sie sie neu.
refused-history-cannot-go-back = Das lässt sich nicht oder nicht ganz zurückholen.
refused-history-changed-since = Jemand hat ihn inzwischen geändert. Das würde jetzt geschehen.
refused-history-not-kept = Was mit diesen Datensätzen geschieht, wird nicht festgehalten.
refused-history-too-many = Es hat mehr Datensätze geändert, als auf einmal zurückgenommen werden. Nehmen Sie sie einzeln zurück.
refused-search-nothing-to-look-for = Es gibt nichts zu suchen. Geben Sie einen Buchstaben oder eine Ziffer ein.
refused-search-too-long = Das ist zu viel auf einmal. Lassen Sie einige Wörter weg.
refused-search-unknown-provider = Unter diesem Namen wird nichts gesucht.
refused-workflows-approved-already = Sie haben schon zugestimmt. Andere müssen es auch.
refused-workflows-changed-since = Jemand hat es inzwischen geändert oder weitergeführt. So steht es jetzt.
refused-workflows-condition = Die Bedingung dafür ist nicht erfüllt.
refused-workflows-four-eyes = Das muss jemand anders tun: Sie haben es angelegt oder den Schritt davor getan.
refused-workflows-locked = In diesem Zustand lässt sich das nicht ändern.
refused-workflows-not-allowed = Dafür sind andere zuständig.
refused-workflows-not-allowed-roles = { $count ->
    [one] Dafür sind Mitglieder der Rolle { $roles } zuständig.
   *[other] Dafür sind Mitglieder einer der Rollen { $roles } zuständig.
}
workflow = Ablauf
workflow-approved = { $count ->
    [one] Zugestimmt. Es fehlt noch eine Person.
   *[other] Zugestimmt. Es fehlen noch { $count } Personen.
}
workflow-automatic = Von selbst am { $time }: { $title }
workflow-automatic-not = Von selbst: { $title }. { $why } Der nächste Versuch ist am { $time }.
workflow-awaits = { $title }: { $have } von { $need } haben zugestimmt
workflow-comment = Kommentar
workflow-escalated = Auch andere dürfen handeln.
workflow-moved = Jetzt: { $state }
workflow-past = { $count ->
    [one] Ein Schritt bisher
   *[other] { $count } Schritte bisher
}
workflow-state = Zustand
yes = Ja

## Von jedem Eintrag
common-createdAt = Angelegt
common-updatedAt = Geändert

## Eine Liste
columns-usual = Übliche Spalten
create = { $kind } anlegen
empty-title = Noch keine { $name }
no-hits-clear = Suche und Filter entfernen
no-hits-text = Nichts passt zu Suche und Filtern.
no-hits-title = Keine { $name } gefunden
select-none = Auswahl aufheben
selected = { $count } von { $total } ausgewählt
selection = Auswahl
table-select = { $name } auswählen
table-selected = Ausgewählt

## Filter
filter-clear = Alle entfernen
filter-days = Tage
filter-group = Filter
filter-incomplete = { $name } …
filter-many = einer von { $count } Werten
filter-operator = Bedingung für { $name }
filter-or = {" oder "}
filter-remove = Filter entfernen: { $sentence }
filter-until = { $name }, bis
filter-contains = { $name } enthält { $value }
filter-starts = { $name } beginnt mit { $value }
filter-ends = { $name } endet auf { $value }
filter-is = { $name } ist { $value }
filter-isNot = { $name } ist nicht { $value }
filter-less = { $name } ist kleiner als { $value }
filter-atMost = { $name } ist höchstens { $value }
filter-more = { $name } ist größer als { $value }
filter-atLeast = { $name } ist mindestens { $value }
filter-between = { $name } ist { $first } bis { $second }
filter-lastDays = { $name } { $count ->
    [one] am letzten Tag
   *[other] in den letzten { $count } Tagen
 }
filter-empty = { $name } ist leer
filter-notEmpty = { $name } ist nicht leer
operator-contains = enthält
operator-starts = beginnt mit
operator-ends = endet auf
operator-is = ist
operator-isNot = ist nicht
operator-less = kleiner als
operator-atMost = höchstens
operator-more = größer als
operator-atLeast = mindestens
operator-between = zwischen
operator-lastDays = in den letzten Tagen
operator-empty = ist leer
operator-notEmpty = ist nicht leer
operator-time-less = vor
operator-time-more = nach
filter-time-less = { $name } vor { $value }
filter-time-more = { $name } nach { $value }

## Felder
field-json = Das ist noch kein JSON. Texte und Namen stehen in doppelten Anführungszeichen, und hinter dem letzten Eintrag kommt nur seine Klammer.
field-number = Bitte eine Zahl schreiben
field-optional = (freiwillig)
field-other = Dieser Wert passt hier nicht
field-required = Das wird gebraucht
field-time = Bitte Tag und Uhrzeit schreiben
field-too-long = Höchstens { $max } Zeichen
field-whole = Bitte eine ganze Zahl schreiben
reference-list = { $name }
reference-none = Nichts gefunden
reference-search = { $name } suchen

## Ein Eintrag
action-done = { $name }: erledigt
create-done = { $name } ist angelegt
create-save = Anlegen
create-title = { $kind } anlegen
delete-belongs = { $name }: { $count } gehören dazu.
delete-done = { $name } gelöscht
delete-many = { $count } löschen
delete-many-done = { $left ->
    [0] { $count } gelöscht
   *[other] { $count } gelöscht, { $left } ließen sich nicht löschen
 }
delete-many-title = { $count } aus { $name } löschen?
delete-text = Das lässt sich zehn Sekunden lang rückgängig machen.
delete-title = { $kind } „{ $name }“ löschen?
leave = Verwerfen
leave-text = Hier sind Änderungen, die nicht gespeichert sind.
leave-title = Änderungen verwerfen?
record-apart = In eigenem Fenster öffnen
record-changes = { $count ->
    [0] Noch nichts geändert
    [one] Eine Änderung
   *[other] { $count } Änderungen
 }
record-edit = { $name } bearbeiten
record-follow = { $name } öffnen
record-merged = Zusammen mit den anderen Änderungen gespeichert
record-reload = Neu laden
record-save-first = Bitte zuerst die Änderungen speichern oder verwerfen.
record-saved = { $count ->
    [one] Gespeichert: { $name }
   *[other] { $count } Änderungen gespeichert: { $name }
 }
lines-add = { $kind } hinzufügen
lines-amount = { $name }, Zeile { $place }
lines-conflict = Inzwischen hat das jemand anders geändert. Was Sie geschrieben haben, bleibt hier stehen; laden Sie neu, um den anderen Stand zu sehen.
lines-edit = { $name } bearbeiten
lines-none = Noch keine
lines-remove = Zeile { $place } entfernen
lines-saved = Gespeichert: { $names }
related-all = Alle zeigen
related-none = Keine

## Jemand war schneller
conflict-field = Feld
conflict-mine = Ihre Fassung
conflict-same = unverändert
conflict-save = Speichern
conflict-text = Jemand anderes hat diesen Eintrag gleichzeitig geändert. Wählen Sie, was gelten soll; vorher wird nichts gespeichert.
conflict-theirs = Andere Fassung
conflict-title = Von jemand anderem geändert

## Was schiefgehen kann
problem-busy = Der Server ist beschäftigt. Versuchen Sie es gleich noch einmal.
problem-details = Einzelheiten für die Betreuung
problem-forbidden = Das dürfen Sie nicht sehen
problem-offline = Der Server ist nicht erreichbar. Prüfen Sie die Verbindung; was Sie geschrieben haben, bleibt hier.
problem-offline-title = Keine Verbindung
problem-server = Auf dem Server ist etwas schiefgegangen. Versuchen Sie es noch einmal; wenn es so bleibt, sagen Sie es der Betreuung.
problem-signed-out = Sie sind abgemeldet. Melden Sie sich wieder an, um weiterzumachen.
problem-title = Das hat nicht geklappt

## Die Seite
group-data = Daten
group-system = System
sign-in-none = Niemand ist angemeldet
sign-in-none-text = Diese Anwendung hat keine Seite zum Anmelden. Fragen Sie, wer sie betreut, nach einer Adresse, die Sie anmeldet.
start-failed = Die Seite konnte nicht starten

## Diagramme
chart-table = Als Tabelle
chart-when = Wann

## Spalten, Ansichten, Gruppen, Summen
bulk-actions = Aktionen
bulk-change = { $count } ändern: { $name }
bulk-change-button = Ändern
bulk-change-do = { $count } ändern
bulk-done = { $left ->
    [0] { $refused ->
        [0] { $done } erledigt
       *[other] { $done } erledigt, { $refused } abgelehnt
     }
   *[other] { $done } erledigt, { $refused } abgelehnt, { $left } übrig
 }
bulk-property = Was
bulk-so-far = { $done } von { $total }
bulk-stop = Anhalten
columns-down = { $name } nach hinten
columns-group = Gruppieren nach
columns-group-none = Nichts
columns-reading = Liste lesen
columns-total = Summe von { $name }
columns-up = { $name } nach vorn
group-count = Anzahl
group-empty = Leer
group-open = { $name }: { $count } zeigen
group-opened = Das sind die Einträge der Gruppe
groups = Nach { $name }
groups-more = Nur die { $count } größten sind zu sehen. Wer andere sucht, engt die Liste ein.
pager = Seiten
pager-back = Seite davor
pager-first = Erste Seite
pager-forward = Nächste Seite
pager-last = Letzte Seite
pager-page = Seite { $page } von { $count }
reading-EndlessScroll = Fortlaufend
reading-Pager = Seite für Seite
select-everything = Alle { $count } auswählen
total-average = Durchschnitt
total-max = größter Wert
total-min = kleinster Wert
total-mixed-currency = Nicht in einer Währung
total-mixed-unit = Nicht in einer Einheit
total-short-average = Ø
total-short-max = max.
total-short-min = min.
total-short-sum = Summe
total-sum = Summe
views = Ansichten
views-everybody = geteilt
views-forget = { $name } vergessen
views-forgotten = { $name } vergessen
views-keep = Diese Ansicht behalten
views-kept = Behalten als { $name }
views-name = Name
views-share = { $name } mit allen teilen
views-shared = { $name } ist geteilt
views-unshare = { $name } nicht mehr teilen
views-unshared = { $name } ist nicht mehr geteilt
views-usual = Wie üblich
write-conflict = Jemand anderes hat es inzwischen geändert. Bitte noch einmal ansehen.
write-in-list = In der Liste schreiben

## Live, und ohne Netz
connection-away = Keine Verbindung. Was zu sehen ist, kann veraltet sein.
record-changed-elsewhere = Jemand anderes hat das inzwischen geändert. Ihre Änderungen bleiben; beim Speichern sehen Sie beides.
record-deleted-elsewhere = Jemand anderes hat das gelöscht.

## Was mit einem Datensatz geschah
history = Verlauf
history-afterwards = Danach
history-by-job = durch einen Auftrag im Hintergrund
history-by-key = mit einem API-Schlüssel
history-changed = { $who } hat { $field } von { $before } auf { $after } geändert
history-changed-later = Später geändert
history-created = { $who } hat ihn angelegt
history-deleted = { $who } hat ihn gelöscht
history-emptied = { $who } hat { $field } geleert, zuvor { $before }
history-event = Etwas ist mit ihm geschehen
history-filled = { $who } hat { $field } auf { $after } gesetzt
history-fields = Felder
history-later-text = Was markiert ist, wurde später noch einmal geändert. Es bleibt, wie es ist, wenn Sie es nicht auswählen.
history-mode-After = Stand danach wiederherstellen
history-mode-Before = Stand davor wiederherstellen
history-mode-Undo = { $operation ->
    [created] Anlegen zurücknehmen
    [deleted] Zurückholen
    [restored] Wieder löschen
   *[other] Diese Änderung zurücknehmen
 }
history-nameless = Jemand, dessen Name entfernt wurde
history-none = Noch nichts festgehalten
history-none-text = Von nun an steht hier jede Änderung: von wem, wann, und was zuvor war.
history-now = Jetzt
history-older = Ältere zeigen
history-obstacle-create-only = lässt sich nach dem Anlegen nicht mehr ändern
history-obstacle-data-check = verletzt eine Regel der Datenbank
history-obstacle-data-reference = verweist auf etwas, das es nicht gibt
history-obstacle-data-unique = ist bei einem anderen Datensatz vergeben
history-obstacle-gone = gibt es nicht mehr
history-obstacle-masked = wird Ihnen nur verändert gezeigt und lässt sich darum nicht setzen
history-obstacle-other-type = enthält jetzt Werte anderer Art
history-obstacle-read-only = setzt allein die Anwendung
history-purged = { $who } hat ihn endgültig entfernt
history-restore = Wiederherstellen
history-restored = Wiederhergestellt
history-revived = { $who } hat ihn zurückgeholt
history-rewritten = { $more ->
    [0] { $who } hat { $field } geändert
    [one] { $who } hat { $field } und ein weiteres Feld geändert
   *[other] { $who } hat { $field } und { $more } weitere Felder geändert
 }
history-step = { $who }: { $step }, von { $from } nach { $to }
history-stranger = Jemand aus einer anderen Organisation
history-system = Das System
history-title-After = Diesen Stand wiederherstellen?
history-title-Before = Den Stand davor wiederherstellen?
history-title-Undo = { $operation ->
    [created] Wieder löschen?
    [deleted] Zurückholen?
    [restored] Wieder löschen?
   *[other] Diese Änderung zurücknehmen?
 }
history-took-back = nimmt eine frühere Änderung zurück
history-touched = { $who } hat etwas geändert, das Sie nicht sehen dürfen
history-values = { $count ->
    [one] Ein Wert
   *[other] { $count } Werte
 }
history-ways = Wege zurück
history-will-change = { $mode ->
    [After] Er wird, wie er nach der Änderung vom { $time } war.
    [Before] Er wird, wie er vor der Änderung vom { $time } war.
   *[Undo] Was die Änderung vom { $time } gesetzt hat, geht zurück; alles andere bleibt.
 }
history-will-create = Der Datensatz kommt unter seinem Schlüssel zurück, mit diesen Werten.
history-will-delete = Der Datensatz wird gelöscht. Sein Verlauf bleibt.
history-will-nothing = Es ist schon so. Nichts würde sich ändern.
history-will-restore = Der Datensatz kommt unter seinem Schlüssel zurück.

## Tafeln
board = Nach Zustand
board-more = { $count } weitere in der Liste
board-move = Weiterbringen
board-move-of = { $name } weiterbringen
board-no-way = Von hier führt kein Schritt dorthin
board-which = Welcher Schritt?

press-all = Auswählen, was geladen ist
press-anywhere = Apps und Datensätze finden
press-apart = In einem eigenen Fenster öffnen
press-copy = Für eine Tabellenkalkulation kopieren
press-done = Fertig
press-far = Eine Seite weiter, oder ans Ende
press-help = Diese Tasten zeigen
press-leave = Datensatz schließen, oder Geschriebenes aufgeben
press-new = Neu anlegen
press-of-all = Überall hier
press-of-list = In der Liste
press-open = Datensatz öffnen, oder einen Knopf drücken
press-range = Bis dorthin auswählen
press-save = Speichern
press-search = Zur Suche gehen
press-select = Zeile auswählen
press-title = Tasten
press-undo = Die letzte Änderung zurücknehmen
press-walk = Von Zelle zu Zelle gehen
press-width = Spalte schmaler und breiter
press-write = In die Zelle schreiben
