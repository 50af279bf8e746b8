# What the client says. Sets and properties have texts of their own, from the modules they belong to.

## Everywhere
cancel = Cancel
close = Close
columns = Columns
copy = Copy
copied = { $count ->
    [one] Copied one row
   *[other] Copied { $count } rows
 }
done = Done
due = Due
delete = Delete
discard = Discard
filter = Filter
loading = Loading…
moved = You work in another organisation now
moved-text = You changed to it in another tab. This page shows the one before, and nothing of it can be saved any more.
more = More
no = No
open = Open
open-named = Open { $name }
save = Save
search = Search
search-in = Search { $name }
print-list = Print
overdue = Overdue
print-part = { $shown } of { $total }
search-records = Records
search-rest = All hits in { $name }
time-now = just now
try-again = Try again
undo = Undo
refused-data-check = The record breaks a rule of the database.
refused-data-in-use = Other records refer to this one. Change or delete those first.
refused-data-reference = A record that this refers to doesn’t exist, or is still in use.
refused-data-unique = A record with these values already exists.
refused-http-other-organisation = This page shows another organisation than the one you work in now. Load it again.
refused-history-cannot-go-back = This can’t be brought back, or not all of it.
refused-history-changed-since = Somebody has changed it meanwhile. This is what would happen now.
refused-history-not-kept = The history of these records isn’t kept.
refused-history-too-many = It changed more records than are taken back at once. Take them back one by one.
refused-search-nothing-to-look-for = There is nothing to look for. Type a letter or a digit.
refused-search-too-long = That is too much to look for at once. Leave some words out.
refused-search-unknown-provider = Nothing is searched under this name.
refused-workflows-approved-already = You have approved it already. Others have to.
refused-workflows-changed-since = Somebody has changed it or taken it on meanwhile. This is how it stands now.
refused-workflows-condition = The record doesn’t meet the condition for it.
refused-workflows-four-eyes = Somebody else has to: you made it, or took the step before.
refused-workflows-locked = This can’t be changed in the state that the record is in.
refused-workflows-not-allowed = This is for others.
refused-workflows-not-allowed-roles = { $count ->
    [one] This is for members of the role { $roles }.
   *[other] This is for members of one of the roles { $roles }.
}
workflow = Workflow
workflow-approved = { $count ->
    [one] Approved. One more person has to.
   *[other] Approved. { $count } more people have to.
}
workflow-automatic = By itself at { $time }: { $title }
workflow-automatic-not = By itself: { $title }. { $why } It is tried again at { $time }.
workflow-awaits = { $title }: { $have } of { $need } have approved
workflow-comment = Comment
workflow-escalated = Others may act too.
workflow-moved = It is now: { $state }
workflow-past = { $count ->
    [one] One step so far
   *[other] { $count } steps so far
}
workflow-state = State
yes = Yes

## Kept of every record
common-createdAt = Created
common-updatedAt = Changed

## A list
columns-usual = Usual columns
create = New { $kind }
empty-title = No { $name } yet
no-hits-clear = Drop search and filters
no-hits-text = Nothing fits the search and the filters.
no-hits-title = No { $name } found
select-none = Select none
selected = { $count } of { $total } selected
selection = Selection
table-select = Select { $name }
table-selected = Selected

## Filters
filter-clear = Clear all
filter-days = Days
filter-group = Filters
filter-incomplete = { $name } …
filter-many = any of { $count } values
filter-operator = Condition for { $name }
filter-or = {" or "}
filter-remove = Remove filter: { $sentence }
filter-until = { $name }, until
filter-contains = { $name } contains { $value }
filter-starts = { $name } begins with { $value }
filter-ends = { $name } ends with { $value }
filter-is = { $name } is { $value }
filter-isNot = { $name } isn’t { $value }
filter-less = { $name } is less than { $value }
filter-atMost = { $name } is at most { $value }
filter-more = { $name } is more than { $value }
filter-atLeast = { $name } is at least { $value }
filter-between = { $name } is { $first } to { $second }
filter-lastDays = { $name } { $count ->
    [one] in the last day
   *[other] in the last { $count } days
 }
filter-empty = { $name } is empty
filter-notEmpty = { $name } isn’t empty
operator-contains = contains
operator-starts = begins with
operator-ends = ends with
operator-is = is
operator-isNot = isn’t
operator-less = less than
operator-atMost = at most
operator-more = more than
operator-atLeast = at least
operator-between = between
operator-lastDays = in the last days
operator-empty = is empty
operator-notEmpty = isn’t empty
operator-time-less = before
operator-time-more = after
filter-time-less = { $name } before { $value }
filter-time-more = { $name } after { $value }

## Fields
field-json = This isn’t JSON yet. Texts and names stand in double quotes, and nothing follows the last entry but its bracket.
field-number = Write a number
field-optional = (optional)
field-other = This isn’t a value that fits here
field-required = This is needed
field-time = Write a date and a time
field-too-long = At most { $max } characters
field-whole = Write a whole number
reference-list = { $name }
reference-none = Nothing found
reference-search = Search { $name }

## A record
action-done = { $name }: done
create-done = { $name } is there
create-save = Create
create-title = New { $kind }
delete-belongs = { $name }: { $count } belong to it.
delete-done = { $name } deleted
delete-many = Delete { $count }
delete-many-done = { $left ->
    [0] { $count } deleted
   *[other] { $count } deleted, { $left } could not be
 }
delete-many-title = Delete { $count } { $name }?
delete-text = You can take this back for ten seconds.
delete-title = Delete { $kind } “{ $name }”?
leave = Discard
leave-text = You have changes here that aren’t saved.
leave-title = Discard your changes?
record-apart = Open in a window of its own
record-changes = { $count ->
    [0] Nothing changed yet
    [one] One change
   *[other] { $count } changes
 }
record-edit = Edit { $name }
record-follow = Open { $name }
record-merged = Saved together with the other changes
record-reload = Load again
record-save-first = Save or discard your changes first.
record-saved = { $count ->
    [one] Saved: { $name }
   *[other] Saved { $count } changes: { $name }
 }
lines-add = Add { $kind }
lines-amount = { $name }, line { $place }
lines-conflict = Somebody else has changed this meanwhile. What you wrote is kept here; load it again to see theirs.
lines-edit = Edit { $name }
lines-none = None yet
lines-remove = Remove line { $place }
lines-saved = Saved: { $names }
related-all = Show all
related-none = None

## Somebody else was first
conflict-field = Field
conflict-mine = Yours
conflict-same = unchanged
conflict-save = Save
conflict-text = Somebody else changed this record while you did. Choose what shall stand; nothing is saved before.
conflict-theirs = Theirs
conflict-title = Changed by somebody else

## What can go wrong
problem-busy = The server is busy. Try again in a moment.
problem-details = Details for support
problem-forbidden = You may not see this
problem-offline = The server can’t be reached. Check the connection; what you wrote stays here.
problem-offline-title = No connection
problem-server = Something went wrong on the server. Try again; if it stays like that, tell whoever looks after it.
problem-signed-out = You are signed out. Sign in again to go on.
problem-title = This didn’t work

## The page
group-data = Data
group-system = System
sign-in-none = Nobody is signed in
sign-in-none-text = This application has no sign-in page. Ask whoever looks after it for an address that signs you in.
start-failed = The page could not start

## Charts
chart-table = As a table
chart-when = When

## Columns, views, groups, totals
bulk-actions = Actions
bulk-change = Change { $count } { $name }
bulk-change-button = Change
bulk-change-do = Change { $count }
bulk-done = { $left ->
    [0] { $refused ->
        [0] { $done } done
       *[other] { $done } done, { $refused } refused
     }
   *[other] { $done } done, { $refused } refused, { $left } left
 }
bulk-property = What
bulk-so-far = { $done } of { $total }
bulk-stop = Stop
columns-down = Move { $name } back
columns-group = Group by
columns-group-none = Nothing
columns-reading = Read the list
columns-total = Total of { $name }
columns-up = Move { $name } forward
group-count = Records
group-empty = Empty
group-open = { $name }: show { $count }
group-opened = These are the records of the group
groups = By { $name }
groups-more = Only the { $count } largest are shown. Narrow the list to see others.
pager = Pages
pager-back = Page before
pager-first = First page
pager-forward = Next page
pager-last = Last page
pager-page = Page { $page } of { $count }
reading-EndlessScroll = On and on
reading-Pager = Page by page
select-everything = Select all { $count }
total-average = average
total-max = greatest
total-min = least
total-mixed-currency = Not in one currency
total-mixed-unit = Not in one unit
total-short-average = avg
total-short-max = max
total-short-min = min
total-short-sum = sum
total-sum = sum
views = Views
views-everybody = shared
views-forget = Forget { $name }
views-forgotten = { $name } forgotten
views-keep = Keep this view
views-kept = Kept as { $name }
views-name = Name
views-share = Share { $name } with everybody
views-shared = { $name } is shared
views-unshare = Stop sharing { $name }
views-unshared = { $name } is no longer shared
views-usual = As usual
write-conflict = Somebody else changed it meanwhile. Look at it again.
write-in-list = Write in the list

## Live, and without a network
connection-away = No connection. What you see may be out of date.
record-changed-elsewhere = Somebody else has changed this meanwhile. Your changes are kept; saving shows both.
record-deleted-elsewhere = Somebody else has deleted this.

## What happened to a record
history = History
history-afterwards = Afterwards
history-by-job = by a background job
history-by-key = with an API key
history-changed = { $who } changed { $field } from { $before } to { $after }
history-changed-later = Changed later
history-created = { $who } made it
history-deleted = { $who } deleted it
history-emptied = { $who } emptied { $field }, which was { $before }
history-event = Something happened to it
history-filled = { $who } set { $field } to { $after }
history-fields = Fields
history-later-text = What is marked was changed again later. It stays as it is unless you choose it.
history-mode-After = Bring back the state after this
history-mode-Before = Bring back the state before this
history-mode-Undo = { $operation ->
    [created] Undo making it
    [deleted] Bring it back
    [restored] Delete it again
   *[other] Undo this change
 }
history-nameless = Somebody whose name was blanked
history-none = Nothing was kept yet
history-none-text = From now on every change is told here: who made it, when, and what it was before.
history-now = Now
history-older = Show older
history-obstacle-create-only = can’t be changed once the record is there
history-obstacle-data-check = breaks a rule of the database
history-obstacle-data-reference = refers to nothing that exists
history-obstacle-data-unique = is taken by another record
history-obstacle-gone = doesn’t exist any more
history-obstacle-masked = is shown to you in a changed form, so you can’t set it
history-obstacle-other-type = holds values of another kind now
history-obstacle-read-only = is set by the application alone
history-purged = { $who } removed it for good
history-restore = Restore
history-restored = Restored
history-revived = { $who } brought it back
history-rewritten = { $more ->
    [0] { $who } changed { $field }
    [one] { $who } changed { $field } and one more
   *[other] { $who } changed { $field } and { $more } more
 }
history-step = { $who }: { $step }, from { $from } to { $to }
history-stranger = Somebody of another organisation
history-system = The system
history-title-After = Bring back this state?
history-title-Before = Bring back the state before?
history-title-Undo = { $operation ->
    [created] Delete it again?
    [deleted] Bring it back?
    [restored] Delete it again?
   *[other] Undo this change?
 }
history-took-back = takes back an earlier change
history-touched = { $who } changed something that you may not see
history-values = { $count ->
    [one] One value
   *[other] { $count } values
 }
history-ways = Ways back
history-will-change = { $mode ->
    [After] It becomes as it was after the change of { $time }.
    [Before] It becomes as it was before the change of { $time }.
   *[Undo] What the change of { $time } set goes back; everything else stays.
 }
history-will-create = The record comes back under its key, with these values.
history-will-delete = The record is deleted. Its history stays.
history-will-nothing = It is so already. Nothing would change.
history-will-restore = The record comes back under its key.

## Boards
board = By state
board-more = { $count } more in the list
board-move = Take on
board-move-of = Take { $name } on
board-no-way = No step leads there from here
board-which = Which step?

press-all = Select what is loaded
press-anywhere = Find apps and records
press-apart = Open it in a window of its own
press-copy = Copy for a spreadsheet
press-done = Done
press-far = Go a page, or to the end
press-help = Show these keys
press-leave = Close the record, or give up writing
press-new = Make a new one
press-of-all = Everywhere here
press-of-list = In the list
press-open = Open the record, or press a button
press-range = Select up to there
press-save = Save
press-search = Go to the search
press-select = Select the row
press-title = Keys
press-undo = Take the last change back
press-walk = Go from cell to cell
press-width = Narrower and wider column
press-write = Write in the cell
