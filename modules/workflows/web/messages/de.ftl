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
