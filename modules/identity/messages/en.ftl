# The account pages.

identity-email = Mail address
identity-password = Password
identity-new-password = New password
identity-new-password-hint = { $min } characters or more. A few words in a row are easy to remember and hard to guess.
identity-repeat-password = Password once more
identity-display-name = Your name
identity-cancel = Cancel
identity-back = Back to sign-in
identity-language = Language

identity-sign-in-title = Sign in
identity-sign-in-button = Sign in
identity-sign-in-forgotten = Forgotten your password?
identity-sign-in-refused = That address and password don’t match. Check both, or set a new password.
identity-sign-in-no-organisation = Your account belongs to no organisation. Ask whoever invited you.
identity-signed-in = You are signed in
identity-going-on = Taking you back. If nothing happens, use this link:
identity-go-on = Go on

identity-external-or = Other ways to sign in
identity-external-button = Sign in with { $issuer }
identity-external-lost = This sign-in wasn’t begun in this browser, or took too long. Sign in once more.
identity-external-refused = You weren’t signed in there. Sign in once more, or ask your administrator.
identity-external-no-organisation = Your account is known, but belongs to no organisation here. Ask your administrator.
identity-external-no-address = Your account tells no mail address, which is needed here. Ask your administrator.
identity-external-address-taken = Somebody else here has your mail address. If that is you, sign in with your password; or ask your administrator.
identity-external-disabled = Your account is switched off here. Ask your administrator.
identity-external-away = { $issuer } can’t be reached at the moment. Sign in another way, or try again in a few minutes.
identity-external-others = See the other ways

identity-accounts-title = Accounts elsewhere
identity-accounts-lead = An account that you have elsewhere signs you in here once it is linked.
identity-accounts-change = Link or take off
identity-accounts-link = Link an account of { $issuer }
identity-accounts-off = Take off
identity-accounts-off-label = Take the account of { $issuer } off
identity-accounts-linked = The account is linked. You can sign in with it from now on.
identity-accounts-unlinked = The account is taken off. It opens nothing here any more.
identity-accounts-last = Nothing else would let you in. Set a password or add a passkey first.
identity-accounts-unknown = This account isn’t linked with you any more.
identity-accounts-taken = This account belongs to somebody else here, or you have as many as there may be. Sign in with it to see whose it is.

identity-sign-out-title = Sign out
identity-sign-out-question = Do you want to sign out as { $name }?
identity-sign-out-button = Sign out
identity-sign-out-stay = Stay signed in
identity-signed-out = You are signed out
identity-signed-out-detail = You can close this page, or sign in again.

identity-wait = There were too many attempts. Try again in { $minutes ->
    [one] a minute
   *[other] { $minutes } minutes
 }, or set a new password.

identity-set-up-title = Set up { $application }
identity-set-up-lead = Name your organisation and make the first account. It may do everything; the rest can be changed later.
identity-set-up-organisation = Organisation
identity-set-up-organisation-hint = As your colleagues call it
identity-set-up-you = Your account
identity-set-up-button = Set up

identity-organisation-title = Choose an organisation
identity-organisation-lead = What you see and change belongs to the one that you choose.
identity-organisation-current = chosen now

identity-account-title = Your account
identity-account-person = About you
identity-account-organisation = Organisation
identity-account-organisation-change = Change
identity-account-app = Back to { $application }

identity-details-change = Change name or address
identity-details-changed = Your name is changed.
identity-save = Save
identity-address-hint = A new address counts once you have opened the link that we send to it.
identity-address-password = Only needed for a new address
identity-address-sent = Look into the mail of your new address. It counts once you have opened the link that we sent there.
identity-address-title = Your new address
identity-address-lead = Use the address at which you got this link from now on.
identity-address-button = Use this address
identity-address-changed = This is your address now. Sign in with it from now on.
identity-address-taken = Another account has this address meanwhile, so yours stays as it is.

identity-password-title = Password
identity-password-current = Current password
identity-password-none = You have no password. You sign in by other means.
identity-password-change = Change password
identity-password-changed = Your password is changed. You were signed out everywhere else.
identity-password-wrong = This isn’t your current password.
identity-password-differs = The two passwords differ.
identity-password-consequence = You stay signed in here, and are signed out everywhere else.

identity-sessions-title = Where you are signed in
identity-session-this = this browser
identity-session-program = goes on without a browser
identity-session-program-ended = That program has no access any more.
identity-session-unknown = Unknown browser
identity-session-on = { $browser } on { $system }
identity-session-used = Last used { DATETIME($at, dateStyle: "medium", timeStyle: "short") }
identity-session-used-now = Used just now
identity-session-from = from { $address }
identity-session-end = Sign out
identity-session-end-label = Sign out { $session }
identity-sessions-end-others = Sign out everywhere else
identity-session-ended = That browser is signed out.
identity-sessions-ended = You are signed out everywhere else.

identity-forgotten-title = Set a new password
identity-forgotten-lead = Give the address of your account. We send a link with which you set a new password.
identity-forgotten-button = Send link
identity-forgotten-sent = Look into your mail
identity-forgotten-sent-detail = If there is an account with the address { $email }, a link is on its way to it. It works for { $minutes } minutes.

identity-reset-title = Set a new password
identity-reset-lead = For { $email }. You are signed out wherever you are signed in.
identity-reset-button = Set password and sign in

identity-invitation-title = Welcome
identity-invitation-lead = { $organisation } has invited you as { $email }. Choose a password, and you are there.
identity-invitation-join-lead = { $organisation } has invited you as { $email }.
identity-invitation-button = Accept
identity-invitation-sign-in = Sign in as { $email } first, so that we know it is you.

identity-link-ended = This link has ended
identity-link-ended-detail = It was used already, or it is too old. Ask for a new one.

identity-second-factor-title = One more step
identity-second-factor-code = Code of your authenticator app
identity-second-factor-code-hint = Six digits
identity-second-factor-recovery = Use a recovery code instead
identity-second-factor-recovery-code = Recovery code
identity-second-factor-app = Use your authenticator app instead
identity-second-factor-wrong = This code isn’t right, or was used already. Wait for the next one.
identity-second-factor-recovery-wrong = This is none of your recovery codes, or it was used already.
identity-second-factor-ended = It took too long. Sign in once more.

identity-totp-title = Second step
identity-totp-off = Off. You are not asked for a code.
identity-totp-on = On. You are asked for a code of your authenticator app.
identity-totp-recovery-left = { $count ->
    [0] You have no recovery code left.
    [one] You have one recovery code left.
   *[other] You have { $count } recovery codes left.
 }
identity-totp-set-up = Set up
identity-totp-remove = Switch off
identity-totp-change = Change
identity-totp-set-up-title = Set up the second step
identity-totp-set-up-lead = Add this account to an authenticator app on your phone: scan the picture, or type the key.
identity-totp-picture = Picture for the authenticator app
identity-totp-key = Key
identity-totp-code = Code that the app shows now
identity-totp-switch-on = Switch on
identity-totp-wrong = This isn’t the code that the app shows now. Check that the time of your phone is right.
identity-totp-is-on = The second step is on.
identity-totp-is-off = The second step is off.
identity-recovery-title = Recovery codes
identity-recovery-lead = Keep these where you find them when your phone is gone. Each works once. They are shown only now.
identity-recovery-new = Make new codes
identity-recovery-done = I have kept them
identity-recovery-renewed = Your earlier codes open nothing any more.
identity-recovery-lost = Passkey lost?
identity-recovery-lost-lead = Who signs in with a passkey alone comes in with a recovery code, and then adds another passkey. If you have a password, or an account elsewhere that signs you in, begin with that; the code comes after it.
identity-recovery-refused = This code opens nothing: it is none of ours, was used already, or belongs to somebody who signs in another way first.

identity-passkeys-title = Passkeys
identity-passkeys-lead = A passkey is a key that your phone, your computer or a security key keeps for you. It signs you in without a password, and stands in for the second step.
identity-passkeys-count = { $count ->
    [0] None yet.
    [one] One. It signs you in, and is asked for after the password.
   *[other] { $count }. Each signs you in, and one is asked for after the password.
 }
identity-passkeys-change = Add or change
identity-passkeys-yours = Your passkeys
identity-passkey-name = Name
identity-passkey-name-hint = By which you recognise it, such as: my phone
identity-passkey-used = Last used { DATETIME($at, dateStyle: "medium", timeStyle: "short") }
identity-passkey-unused = Not used yet
identity-passkey-remove = Remove
identity-passkey-remove-label = Remove { $name }
identity-passkey-rename = Save names
identity-passkey-password = Only needed to remove one
identity-passkey-add = Add a passkey
identity-passkey-go-on = Go on
identity-passkey-make-lead = Your browser asks which device is to keep it, and checks that it is you.
identity-passkey-make = Make the passkey
identity-passkey-sign-in = Sign in with a passkey
identity-passkey-use = Use a passkey
identity-passkey-instead = Use a passkey instead
identity-passkey-failed = The browser made no use of a passkey. Try again, or go another way.
identity-passkey-refused = This passkey doesn’t open the account. Try again, or sign in another way.
identity-passkey-not-added = This passkey couldn’t be added. Try again; you can have at most { $most }, each once.
identity-passkey-no-script = Passkeys need JavaScript, which is switched off in this browser.
identity-passkey-number = Browsers keep passkeys for sites with a name, and this one is reached by a number. Open it by its name; on your own machine that is localhost.
identity-passkey-added = The passkey is added. It is asked for after your password from now on.
identity-passkey-removed = The passkey is removed.
identity-passkey-last = Nothing else would let you in. Add another passkey or set a password first.
identity-passkey-renamed = The names are saved.

identity-error-title = This didn’t work
identity-error-form = The page was open for too long, or was sent from elsewhere. Go back, load it again and send it once more.
identity-error-cookies = Your browser sent no cookie along. Cookies of this site must be allowed, and the address must begin with https://.
identity-error-busy = There is a lot going on right now. Try again in a few seconds.
identity-error-missing = There is nothing at this address.
identity-error-server = The fault is ours, and is noted. Try again in a little while.
identity-error-unknown-client = The program that sent you here isn’t registered. Tell whoever runs it; your account is not in danger.
identity-error-foreign-redirect = The program that sent you here wants you to be sent to an address that isn’t registered for it, so you stay here. Tell whoever runs it.
identity-error-bad-request = The program that sent you here asked for a sign-in in a way that can’t be read. Go back to it and sign in once more; if that doesn’t help, tell whoever runs it.
identity-error-unknown-address = This application doesn’t know the address in your browser as its own. Use the address that you were given, or tell whoever runs it.
identity-error-reference = Reference: { $id }

identity-invalid-empty = Fill this in.
identity-invalid-name = Use at most 200 characters, on one line.
identity-invalid-email = Give a mail address, such as ada@example.com.
identity-invalid-password-short = Use { $min } characters or more.
identity-invalid-password-long = Use 128 characters or fewer.
identity-invalid-password-common = Many people use this password, so it is tried first. Choose another.
identity-invalid-password-self = Don’t use your own name or address as the password.

# Mails.

identity-mail-reset-subject = Set a new password for { $application }
identity-mail-reset-text = Somebody, probably you, has asked for a new password for { $application }.
    Set it here within { $minutes } minutes:

    { $link }

    If it wasn’t you, there is nothing to do: your password stays as it is.
identity-mail-address-subject = Your new address for { $application }
identity-mail-address-text = Somebody, probably you, wants to use this address for { $application }.
    Confirm it here within { $hours } hours:

    { $link }

    If it wasn’t you, there is nothing to do.
identity-mail-address-old-subject = Another address for your account at { $application }
identity-mail-address-old-text = Somebody, probably you, wants to use { $address } in place of this address for { $application }.
    This address counts until the new one is confirmed.

    If it wasn’t you, change your password: that stops it.
identity-mail-invitation-subject = { $organisation } has invited you to { $application }
identity-mail-invitation-text = { $organisation } has invited you to { $application }.
    Accept here within { $days } days:

    { $link }

    If you don’t know why, ignore this mail.
