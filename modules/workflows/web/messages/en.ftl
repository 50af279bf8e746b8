# The pages of the workflows module.
tasks-act = { $choice }: { $name }
tasks-all = All
tasks-app = Tasks
tasks-column-acts = What you can do
tasks-column-due = Due
tasks-column-facts = About
tasks-column-name = Record
tasks-column-set = Kind
tasks-column-since = Since
tasks-column-state = State
tasks-comment-many = The comment is said of each of them.
tasks-count = { $count }
tasks-many = { $title } ({ $count })
tasks-more = More for { $name }
tasks-moved = { $refused ->
    [0] { $done ->
        [one] One record taken on
       *[other] { $done } records taken on
     }
   *[other] { $done } taken on, { $refused } refused
 }
tasks-news = Show what is new
tasks-none = Nothing awaits you
tasks-none-of-set-text = Nothing of this kind waits for a step of yours.
tasks-none-text = Records that wait for a step of yours appear here by themselves.
tasks-nothing-possible = Nothing is possible yet
tasks-offer-of-set = { $title } ({ $count }, { $set })
tasks-or-more = { $count }+
tasks-order = Order
tasks-order-due = Due first
tasks-order-newest = Newest first
tasks-selected = { $count } selected
tasks-sets = Kinds of records
tasks-show-all = Show all tasks

# The pages of those who draw workflows.
designer-add-state = New state
designer-add-transition = New transition
designer-app = Workflows
designer-amount = { $label }: how many
designer-approvals = How many people it takes
designer-automatic = Taken by the application after
designer-automatic-transition = What the application takes then
designer-by = by { $name }
designer-by-note = Permissions, “@creator”, or the property that names a person, such as “@buyerId”.
designer-calls = Calls
designer-change-added = new
designer-change-changed = changed
designer-change-removed = removed
designer-changes = What it changes
designer-colour = Colour
designer-colour-blue = Blue
designer-colour-green = Green
designer-colour-grey = Grey
designer-colour-red = Red
designer-colour-yellow = Yellow
designer-compare = Side by side
designer-compare-drawn = What is drawn
designer-compare-left = What is compared
designer-compare-right = What it is compared with
designer-compare-same = They don’t differ.
designer-condition = Only where
designer-condition-note = A filter over the record, such as “total gt 1000”.
designer-connecting = A transition from { $state }: go to the state that it leads to and press Enter, or Escape to leave it.
designer-declared = by the application
designer-drop = Drop the draft
designer-drop-text = What was drawn since the version in force is gone then.
designer-due-in = Due within
designer-escalates-to = Who may act too once it is overdue
designer-export = Export as a file
designer-form = What is chosen
designer-from = From
designer-group = Group { $name }
designer-group-add = Another group of people
designer-group-remove = Take { $name } out
designer-group-who = Who is of it
designer-import = Import a file
designer-in-sequence = One group after the other
designer-in-force = In force
designer-is-draft = Draft, version { $version } holds
designer-is-unsaved = Not saved
designer-is-version = Version { $version }
designer-kind = Kind
designer-kind-final = Records end in it
designer-kind-initial = Records begin in it
designer-kind-intermediate = In between
designer-lock = Locks these properties
designer-lock-note = Names with commas between; “*” for the whole record.
designer-migrate = Move records to the version in force
designer-migrate-from = Records of
designer-migrate-none = There are none.
designer-migrate-state = { $count } in { $state } come into
designer-migrate-text = Records stay with the version that they began with until they are moved. They come into version { $version }, in the states that are chosen here.
designer-migrating = The records are being moved.
designer-name = Name
designer-name-note = Letters and digits, the first one small; programs know it by it.
designer-needs-comment = Takes a comment
designer-no-changes = Nothing differs from the version in force.
designer-no-json = That file is not JSON.
designer-no-problems = Nothing is wrong
designer-no-time = No time
designer-none = No workflow is drawn here
designer-none-text = The application declares its workflows and lets nobody draw them.
designer-not-by-creator = Not whoever made the record
designer-not-by-last = Not whoever took the step before
designer-notifies = Tells
designer-note = What to say of the version
designer-optional = Nobody is waited for to take it
designer-part = Choose a state or a transition
designer-picture = The workflow as a picture
designer-picture-help = Drag from one state to another for a transition. With the keyboard: arrows walk, Enter chooses, N begins a transition, Delete removes.
designer-possible = Possible
designer-problem-count = { $count ->
    [one] One problem
   *[other] { $count } problems
 }
designer-problems = Problems
designer-publish = Publish
designer-publish-text = New records of { $title } begin with it. Those that there are stay with their version until they are moved.
designer-role-more = Add a role
designer-role-not = Not the role { $name }
designer-roles = { $label }: roles
designer-running = Records that stay
designer-running-none = No records run yet.
designer-running-version = { $count ->
    [one] One record stays
   *[other] { $count } records stay
 } with version { $version }: { $states }
designer-published = Version { $version } holds now.
designer-publishes = Publishes
designer-reminds-after = Reminds after
designer-remove = Remove
designer-save = Save the draft
designer-saved = The draft is saved.
designer-set = Records
designer-sets = Sets
designer-sets-comment = the comment
designer-sets-me = who takes it
designer-sets-more = Set a property
designer-sets-not = Don’t set { $name }
designer-sets-now = the time
designer-sets-value = this value
designer-sets-what = What { $name } is set to
designer-state = State
designer-state-label = { $title }, { $kind }
designer-states = States
designer-tab-draw = Draw
designer-tab-versions = Versions
designer-take = Draw from this one
designer-title = What people call it
designer-to = To
designer-transition = Transition
designer-transitions = Transitions
designer-try = Try it with a record
designer-try-in = In the state
designer-try-own = The one that it is in
designer-try-record = Record
designer-try-state = In { $state } you could:
designer-undo = Take back
designer-unit-days = days
designer-unit-hours = hours
designer-unit-workingDays = working days
designer-warning-count = { $count ->
    [one] One thing to look at
   *[other] { $count } things to look at
 }
designer-version = Version { $version }
designer-who = Who may take it

hand-on = Hand on
hand-on-reason = Why
hand-on-text = { $name } is then somebody else’s to take on, while it is in its state.
hand-on-to = To whom
handed-on = { $name } is handed on.
standing-in = Stand-ins
standing-in-begin = Let stand in
standing-in-begun = { $to } stands in for you.
standing-in-end = End that { $to } stands in
standing-in-from = From
standing-in-line = { $to } for { $from }
standing-in-named = Find by name
standing-in-nobody = Nobody is called so
standing-in-none = Nobody stands in for you, and you for nobody.
standing-in-reason = Why, if you like
standing-in-to = Who stands in for you
standing-in-until = Until the end of
