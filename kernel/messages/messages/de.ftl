# Wie das Deutsche Daten und Zeiten schreibt; die Argumente stehen in `en.ftl`.

format-month = { $month ->
    [1] Januar
    [2] Februar
    [3] März
    [4] April
    [5] Mai
    [6] Juni
    [7] Juli
    [8] August
    [9] September
    [10] Oktober
    [11] November
   *[12] Dezember
}

format-month-short = { $month ->
    [1] Jan.
    [2] Feb.
    [3] März
    [4] Apr.
    [5] Mai
    [6] Juni
    [7] Juli
    [8] Aug.
    [9] Sept.
    [10] Okt.
    [11] Nov.
   *[12] Dez.
}

format-weekday = { $weekday ->
    [1] Montag
    [2] Dienstag
    [3] Mittwoch
    [4] Donnerstag
    [5] Freitag
    [6] Samstag
   *[7] Sonntag
}

format-half = { $half ->
    [am] AM
   *[pm] PM
}

format-date-full = { format-weekday }, { $day }. { format-month } { $year }
format-date-long = { $day }. { format-month } { $year }
format-date-medium = { $day2 }.{ $month2 }.{ $year }
format-date-short = { $day2 }.{ $month2 }.{ $year2 }
format-time-medium = { $hour2 }:{ $minute2 }:{ $second2 }
format-time-short = { $hour2 }:{ $minute2 }

format-moment-words = { $date } um { $time }
format-moment-brief = { $date }, { $time }
