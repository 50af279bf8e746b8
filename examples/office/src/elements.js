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
