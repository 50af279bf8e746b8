/** A calculator. */
import { make } from './make.js';

const KEYS = ['7', '8', '9', '÷', '4', '5', '6', '×', '1', '2', '3', '−', 'C', '0', '=', '+'];
const OPERATIONS = { '+': (a, b) => a + b, '−': (a, b) => a - b, '×': (a, b) => a * b, '÷': (a, b) => a / b };

function render() {
  let shown = '0';
  let held;
  let operation;
  let fresh = true;
  const output = make('output', { className: 'pg-output' }, shown);
  const press = (key) => {
    if (/\d/.test(key)) {
      shown = fresh || shown === '0' ? key : shown + key;
      fresh = false;
    } else if (key === 'C') [shown, held, operation, fresh] = ['0', undefined, undefined, true];
    else {
      const value = Number(shown);
      if (operation && !fresh) shown = String(+OPERATIONS[operation](held, value).toFixed(9));
      held = Number(shown);
      operation = key === '=' ? undefined : key;
      fresh = true;
    }
    output.textContent = shown;
  };
  const pad = make(
    'div',
    { className: 'pg-pad' },
    ...KEYS.map((key) => make('button', { type: 'button', className: 'pg-button', onclick: () => press(key) }, key)),
  );
  return make('div', { className: 'pg-column' }, output, pad);
}

export const calculator = {
  id: 'calculator',
  title: 'Calculator',
  icon: 'calculator.svg',
  accent: '#55606f',
  width: 300,
  height: 420,
  render,
};
