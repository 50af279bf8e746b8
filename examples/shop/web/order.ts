/** Places an order: who orders, what, and what it comes to at today's prices. */
import {
  amountOf,
  asProblem,
  capitalised,
  define,
  freshId,
  html,
  icon,
  knownModel,
  mayLeave,
  nothing,
  openApp,
  Part,
  send,
  SvcReference,
  text,
  type Pick,
  type Problem,
  type RenderContext,
  type TemplateResult,
} from '@svc/web';
import type { Order, Product, Selected } from './types.ts';

/** A line as it's written. */
interface Line {
  readonly product: Pick | undefined;
  readonly quantity: string;
  /** What the product costs and how many there are, once that is known. */
  readonly price: Product['price'] | undefined;
  readonly stock: Product['stock'] | undefined;
}

const EMPTY: Line = { product: undefined, quantity: '1', price: undefined, stock: undefined };

export class ShopOrder extends Part {
  static override properties = {
    customer: { state: true },
    reference: { state: true },
    lines: { state: true },
    problem: { state: true },
    placing: { state: true },
  };
  declare customer: Pick | undefined;
  declare reference: string;
  declare lines: readonly Line[];
  declare problem: Problem | undefined;
  declare placing: boolean;
  readonly #prefix = freshId('order');

  constructor() {
    super();
    this.reference = '';
    this.lines = [EMPTY];
    this.placing = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add('svc-app');
  }

  /** Whether something would be lost. */
  get isDirty(): boolean {
    return this.customer !== undefined || this.#ordered.length > 0;
  }

  get #ordered(): Line[] {
    return this.lines.filter(({ product }) => product?.key);
  }

  get #total(): number {
    return this.#ordered.reduce((sum, { price, quantity }) => sum + (price ?? 0) * (Number(quantity) || 0), 0);
  }

  #change(index: number, part: Partial<Line>): void {
    const lines = this.lines.map((line, place) => (place === index ? { ...line, ...part } : line));
    // There's always room for one more.
    this.lines = lines.at(-1)?.product?.key ? [...lines, EMPTY] : lines;
  }

  async #pick(index: number, product: Pick): Promise<void> {
    this.#change(index, { product, price: undefined, stock: undefined });
    if (product.key === null) return;
    try {
      const { body } = await send<Selected<Product, 'price' | 'stock'>>(
        `/odata/v1/Products(${product.key})?$select=price,stock`,
      );
      const at = this.lines.findIndex((line) => line.product === product);
      if (at >= 0) this.#change(at, { price: body.price, stock: body.stock });
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  async #place(event: Event): Promise<void> {
    event.preventDefault();
    if (this.placing) return;
    this.placing = true;
    this.problem = undefined;
    const body = {
      customerId: this.customer?.key ?? null,
      reference: this.reference.trim() || null,
      lines: this.#ordered.map(({ product, quantity }) => ({ productId: product?.key, quantity: Number(quantity) })),
    };
    try {
      const { body: order } = await send<Selected<Order, 'id'>>('/api/v1/shop/orders', { method: 'POST', body });
      this.customer = undefined;
      this.lines = [EMPTY];
      openApp('sets.Orders', { r: order.id });
    } catch (error) {
      this.problem = asProblem(error);
      await this.updateComplete;
      this.querySelector<HTMLElement>('[role=alert]')?.focus();
    } finally {
      this.placing = false;
    }
  }

  /** What the server says about one line, by its place among those that were sent. */
  #wrong(line: Line): string | undefined {
    const place = this.#ordered.indexOf(line);
    const found = this.problem?.fields.filter(({ field }) => place >= 0 && field.startsWith(`lines[${place}]`));
    return found?.length ? found.map(({ message }) => capitalised(message)).join('. ') : undefined;
  }

  #complaints(): TemplateResult | typeof nothing {
    const { problem } = this;
    if (!problem) return nothing;
    const others = problem.fields.filter(({ field }) => !field.startsWith('lines[') && field !== 'customerId');
    const said = others.length > 0 ? others.map(({ message }) => message).join('. ') : problem.message;
    return html`<div class="svc-bar" data-tone="danger" role="alert" tabindex="-1">${icon('error')}<span>${capitalised(said)}</span></div>`;
  }

  #line(line: Line, index: number): TemplateResult {
    const products = knownModel().get('Products');
    const id = `${this.#prefix}-${index}`;
    const wrong = this.#wrong(line);
    const amount = line.price === undefined ? undefined : line.price * (Number(line.quantity) || 0);
    const isShort = line.stock !== undefined && Number(line.quantity) > line.stock;
    return html`<tr>
      <td data-label=${text('shop-order-line')}>
        <label class="shell-sr" for=${id}>${text('shop-order-product', { place: index + 1 })}</label>
        ${
          products
            ? html`<svc-reference .set=${products} .inputId=${id} .describedBy=${`${id}-note`} .isWrong=${wrong !== undefined} .value=${line.product?.key ?? null} .shown=${line.product?.title ?? ''}
              @pick=${(event: CustomEvent<Pick>) => void this.#pick(index, event.detail)}></svc-reference>`
            : nothing
        }
        <p id="${id}-note" class="svc-note" ?data-wrong=${wrong !== undefined || isShort}>${wrong ?? (isShort ? text('shop-order-short', { stock: line.stock ?? 0 }) : nothing)}</p>
      </td>
      <td class="svc-quantity" data-label=${text('shop-order-quantity')}>
        <input class="svc-input" inputmode="numeric" autocomplete="off" data-numeric aria-label=${text('shop-order-quantity-of', { place: index + 1 })} .value=${line.quantity}
          @input=${(event: Event) => this.#change(index, { quantity: (event.target as HTMLInputElement).value.trim() })} />
      </td>
      <td data-numeric>${line.price === undefined ? nothing : amountOf('Products', 'price', line.price)}</td>
      <td data-numeric>${amount === undefined ? nothing : amountOf('Products', 'price', amount)}</td>
      <td>
        ${
          line.product?.key
            ? html`<button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('shop-order-remove', { name: line.product.title })} @click=${() => {
                this.lines = this.lines.filter((one) => one !== line);
              }}>${icon('close')}</button>`
            : nothing
        }
      </td>
    </tr>`;
  }

  override render(): TemplateResult {
    const customers = knownModel().get('Customers');
    const wrong = this.problem?.of('customerId');
    const id = `${this.#prefix}-customer`;
    return html`<form class="svc-pane-form" novalidate @submit=${this.#place} aria-label=${text('shop-order')}>
      <div class="svc-pane-body">
        ${this.#complaints()}
        <div class="svc-form">
          <div class="svc-field">
            <label for=${id}>${text('shop-order-customer')}</label>
            ${
              customers
                ? html`<svc-reference .set=${customers} .inputId=${id} .describedBy=${`${id}-note`} .isWrong=${wrong !== undefined} .value=${this.customer?.key ?? null} .shown=${this.customer?.title ?? ''}
                  @pick=${(event: CustomEvent<Pick>) => {
                    this.customer = event.detail;
                  }}></svc-reference>`
                : nothing
            }
            <p id="${id}-note" class="svc-note" ?data-wrong=${wrong !== undefined}>${wrong ? capitalised(wrong) : nothing}</p>
          </div>
          <div class="svc-field">
            <label for="${this.#prefix}-reference">${text('shop-order-reference')}<span class="svc-soft"> ${text('field-optional')}</span></label>
            <input id="${this.#prefix}-reference" class="svc-input" maxlength="60" autocomplete="off" .value=${this.reference} @input=${(
              event: Event,
            ) => {
              this.reference = (event.target as HTMLInputElement).value;
            }} />
          </div>
        </div>
        <table class="svc-lines">
          <thead><tr>
            <th scope="col">${text('shop-order-line')}</th><th scope="col" data-numeric>${text('shop-order-quantity')}</th>
            <th scope="col" data-numeric>${text('shop-order-price')}</th><th scope="col" data-numeric>${text('shop-order-amount')}</th><td></td>
          </tr></thead>
          <tbody>${this.lines.map((line, index) => this.#line(line, index))}</tbody>
        </table>
      </div>
      <footer class="svc-pane-foot">
        <span class="svc-total" role="status">${text('shop-order-total', { total: amountOf('Products', 'price', this.#total) })}</span>
        <button type="submit" class="svc-button" data-look="primary" aria-disabled=${this.placing} ?disabled=${this.#ordered.length === 0 || !this.customer?.key}>${text('shop-order-place')}</button>
      </footer>
    </form>`;
  }
}
define('shop-order', ShopOrder);
define('svc-reference', SvcReference);

export default function render(context: RenderContext): Node {
  const order = document.createElement('shop-order') as ShopOrder;
  context.onClose(() => mayLeave(order));
  return order;
}
