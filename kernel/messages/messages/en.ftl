# How English (United States) writes dates and times. DATETIME chooses among these messages; each has all arguments:
# $year (2026), $year2 (26), $month and $day (1, 2, …), $month2 and $day2 (01, 02, …), $weekday (1 is Monday),
# $hour and $minute (0, 1, …), $hour2, $minute2 and $second2 (00, 01, …), $hour12 (12, 1, …, 11), $half (am or pm).

format-month = { $month ->
    [1] January
    [2] February
    [3] March
    [4] April
    [5] May
    [6] June
    [7] July
    [8] August
    [9] September
    [10] October
    [11] November
   *[12] December
}

format-month-short = { $month ->
    [1] Jan
    [2] Feb
    [3] Mar
    [4] Apr
    [5] May
    [6] Jun
    [7] Jul
    [8] Aug
    [9] Sep
    [10] Oct
    [11] Nov
   *[12] Dec
}

format-weekday = { $weekday ->
    [1] Monday
    [2] Tuesday
    [3] Wednesday
    [4] Thursday
    [5] Friday
    [6] Saturday
   *[7] Sunday
}

format-half = { $half ->
    [am] AM
   *[pm] PM
}

format-date-full = { format-weekday }, { format-month } { $day }, { $year }
format-date-long = { format-month } { $day }, { $year }
format-date-medium = { format-month-short } { $day }, { $year }
format-date-short = { $month }/{ $day }/{ $year2 }
format-time-medium = { $hour12 }:{ $minute2 }:{ $second2 } { format-half }
format-time-short = { $hour12 }:{ $minute2 } { format-half }

# How a date and a time, both written already, stand together: in words, and in few letters.
format-moment-words = { $date } at { $time }
format-moment-brief = { $date }, { $time }
