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
