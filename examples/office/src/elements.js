/** Five bars in place of a number: a press on one says how urgent it is, another press takes that back. */
class OfficeUrgency extends HTMLElement {
  #given = { value: 0, readOnly: true, label: '' };

  set value(value) {
    this.#given = { ...this.#given, value: Number(value ?? 0) };
    this.#show();
  }

  set readOnly(readOnly) {
    this.#given = { ...this.#given, readOnly };
    this.#show();
  }

  set label(label) {
    this.#given = { ...this.#given, label };
    this.#show();
  }

  #show() {
    const { value, readOnly, label } = this.#given;
    this.setAttribute('role', 'group');
    this.setAttribute('aria-label', label);
    const focused = this.contains(document.activeElement) ? [...this.children].indexOf(document.activeElement) : -1;
    this.replaceChildren(
      ...[1, 2, 3, 4, 5].map((step) => {
        const bar = document.createElement('button');
        bar.type = 'button';
        bar.className = 'svc-button';
        bar.dataset.look = step <= value ? 'primary' : '';
        bar.disabled = readOnly;
        bar.textContent = String(step);
        bar.setAttribute('aria-pressed', String(step <= value));
        bar.addEventListener('click', () => this.#tell(step === value ? 0 : step));
        return bar;
      }),
    );
    this.children[focused]?.focus();
  }

  #tell(value) {
    this.dispatchEvent(new CustomEvent('value-changed', { detail: { value }, bubbles: true }));
  }
}
customElements.define('office-urgency', OfficeUrgency);

const PAPERS = { yellow: '#fff3b0', green: '#d5f2c4', pink: '#ffd6e4' };

/** A note on paper of its colour in place of a form: one writes on it, and a press on a colour changes the paper. */
class OfficeNote extends HTMLElement {
  #given = { record: {}, writable: [], wrong: {} };
  #words = document.createElement('textarea');
  #papers = Object.keys(PAPERS).map((name) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'svc-button';
    button.textContent = name;
    button.style.background = PAPERS[name];
    button.style.color = '#222';
    button.style.margin = '6px 6px 0 0';
    button.addEventListener('click', () => this.#tell('paper', name));
    return button;
  });
  #wrong = document.createElement('p');

  constructor() {
    super();
    this.#words.className = 'svc-input';
    this.#words.rows = 6;
    this.#words.style.color = '#222';
    this.#words.setAttribute('aria-label', 'Words');
    this.#words.addEventListener('input', () => this.#tell('words', this.#words.value));
    this.#wrong.className = 'svc-note';
    this.#wrong.dataset.wrong = '';
  }

  connectedCallback() {
    this.replaceChildren(this.#words, ...this.#papers, this.#wrong);
  }

  set record(record) {
    this.#given.record = record;
    this.#show();
  }

  set writable(writable) {
    this.#given.writable = writable;
    this.#show();
  }

  set wrong(wrong) {
    this.#given.wrong = wrong;
    this.#show();
  }

  #show() {
    const { record, writable, wrong } = this.#given;
    const paper = record.paper ?? 'yellow';
    const words = record.words ?? '';
    this.#words.style.background = PAPERS[paper];
    this.#words.readOnly = !writable.includes('words');
    // What is being typed keeps its caret.
    if (this.#words.value !== words) this.#words.value = words;
    for (const button of this.#papers) {
      button.disabled = !writable.includes('paper');
      button.setAttribute('aria-pressed', String(button.textContent === paper));
    }
    this.#wrong.textContent = Object.values(wrong).join(' ');
  }

  #tell(name, value) {
    this.dispatchEvent(new CustomEvent('value-changed', { detail: { name, value }, bubbles: true }));
  }
}
customElements.define('office-note', OfficeNote);
