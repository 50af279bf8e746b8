/** A form that asks before it's closed with something typed. */
import { make } from './make.js';

function render({ host, onClose, setTitle }) {
  let dirty = false;
  const question = make(
    'p',
    { className: 'pg-question', role: 'alert', hidden: true },
    'Something isn’t sent yet. Close again to discard it.',
  );
  const form = make(
    'form',
    {
      className: 'pg-form',
      oninput: () => {
        dirty = true;
        setTitle('Contact •');
      },
      onsubmit: (event) => {
        event.preventDefault();
        dirty = false;
        setTitle('Contact');
        form.replaceChildren(make('h3', {}, 'Thank you'), make('p', {}, 'The message is on its way.'));
      },
    },
    make(
      'label',
      {},
      'Name',
      make('input', { className: 'pg-input', name: 'name', required: true, autocomplete: 'name' }),
    ),
    make(
      'label',
      {},
      'E-mail',
      make('input', { className: 'pg-input', name: 'email', type: 'email', required: true, autocomplete: 'email' }),
    ),
    make('label', {}, 'Message', make('textarea', { className: 'pg-input', name: 'message', rows: 5, required: true })),
    question,
    make('button', { className: 'pg-button', type: 'submit' }, 'Send'),
  );
  onClose(() => {
    if (!dirty) return true;
    dirty = false;
    question.hidden = false;
    return false;
  });
  host.append(form);
}

export const contact = {
  id: 'contact',
  title: 'Contact',
  icon: 'mail.svg',
  accent: '#24879a',
  width: 440,
  height: 460,
  render,
};
