/** How the shop does: what waits, what sells, what has to be bought. */
import {
  amountOf,
  apply,
  asProblem,
  bars,
  chart,
  define,
  failure,
  html,
  month,
  nothing,
  number,
  openApp,
  Part,
  send,
  text,
  type Problem,
  type RenderContext,
  type TemplateResult,
} from '@svc/web';
import type { Category, Customer, Order, Product } from './types.ts';

const MONTHS = 12;
const MOST = 8;
const TO_BUY = 'stock lt reorderLevel and not discontinued';

interface Month {
  y: number;
  m: number;
  total: Order['total'];
  count: number;
}

type ByCustomer = Pick<Order, 'customerId' | 'total'> & { customer: Pick<Customer, 'name'> | null };
type ByCategory = Pick<Product, 'categoryId'> & { category: Pick<Category, 'name'> | null; count: number };

interface Figures {
  readonly months: readonly Month[];
  readonly customers: readonly ByCustomer[];
  readonly toBuy: readonly ByCategory[];
  readonly waiting: number;
}

/** The first day of the month that begins the chart. */
function begin(): Date {
  const now = new Date();
  return new Date(Date.UTC(now.getFullYear(), now.getMonth() - MONTHS + 1, 1));
}

async function load(): Promise<Figures> {
  const since = `orderedAt ge ${begin().toISOString()} and status ne 'cancelled'`;
  const [months, customers, toBuy, waiting] = await Promise.all([
    apply<Month>(
      'Orders',
      `filter(${since})/compute(year(orderedAt) as y,month(orderedAt) as m)/groupby((y,m),aggregate(total with sum as total,$count as count))`,
    ),
    apply<ByCustomer>(
      'Orders',
      `filter(${since})/groupby((customerId,customer/name),aggregate(total with sum as total))`,
    ),
    apply<ByCategory>('Products', `filter(${TO_BUY})/groupby((categoryId,category/name),aggregate($count as count))`),
    send<number | string>(`/odata/v1/Orders/$count?$filter=${encodeURIComponent("status eq 'placed'")}`, {
      headers: { accept: 'text/plain' },
    }),
  ]);
  return { months, customers, toBuy, waiting: Number(waiting.body) };
}

/** What orders come to, without cents. */
function sales(value: number): string {
  return amountOf('Products', 'price', value, 0);
}

export class ShopDashboard extends Part {
  static override properties = { figures: { state: true }, problem: { state: true } };
  declare figures: Figures | undefined;
  declare problem: Problem | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add('svc-app');
    void this.#load();
  }

  async #load(): Promise<void> {
    this.problem = undefined;
    try {
      this.figures = await load();
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  #figure(name: string, value: string, open?: () => void): TemplateResult {
    return html`<div><dt>${name}</dt><dd>${open ? html`<button type="button" class="svc-figure" @click=${open}>${value}</button>` : value}</dd></div>`;
  }

  #months({ months }: Figures): TemplateResult {
    const from = begin();
    const shown = Array.from({ length: MONTHS }, (_none, index) => {
      const day = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + index, 15));
      const found = months.find(({ y, m }) => y === day.getUTCFullYear() && m === day.getUTCMonth() + 1);
      return { label: month(day), parts: [Math.round(found?.total ?? 0)] };
    });
    return chart(text('shop-by-month'), shown, [text('shop-sales')], ['info'], sales);
  }

  #customers({ customers }: Figures): TemplateResult {
    const best = [...customers].sort((one, other) => other.total - one.total).slice(0, MOST);
    return bars(
      text('shop-best-customers'),
      [text('shop-customer'), text('shop-sales')],
      best.map(({ customerId, customer, total }) => ({
        label: customer?.name ?? '–',
        value: total,
        shown: sales(total),
        open: () => void openApp('sets.Customers', { r: customerId }),
      })),
    );
  }

  #toBuy({ toBuy }: Figures): TemplateResult {
    const most = [...toBuy].sort((one, other) => other.count - one.count).slice(0, MOST);
    return bars(
      text('shop-to-buy'),
      [text('shop-category'), text('shop-products')],
      most.map(({ categoryId, category, count }) => ({
        label: category?.name ?? '–',
        value: count,
        shown: number(count, 0),
        open: () =>
          void openApp('sets.Products', {
            f: [
              ['categoryId', 'is', categoryId],
              ['availability', 'is', 'low', 'soldOut'],
            ],
          }),
      })),
    );
  }

  #body(figures: Figures): TemplateResult {
    const current = figures.months.find(
      ({ y, m }) => y === new Date().getFullYear() && m === new Date().getMonth() + 1,
    );
    const toBuy = figures.toBuy.reduce((sum, { count }) => sum + count, 0);
    return html`<div class="svc-dashboard">
      <dl class="svc-figures">
        ${this.#figure(text('shop-waiting'), number(figures.waiting, 0), () => void openApp('sets.Orders', { f: [['status', 'is', 'placed']] }))}
        ${this.#figure(text('shop-this-month'), sales(current?.total ?? 0))}
        ${this.#figure(text('shop-orders-this-month'), number(current?.count ?? 0, 0))}
        ${this.#figure(text('shop-to-buy-count'), number(toBuy, 0), () => void openApp('sets.Products', { f: [['availability', 'is', 'low', 'soldOut']] }))}
      </dl>
      ${this.#months(figures)}${this.#customers(figures)}${this.#toBuy(figures)}
    </div>`;
  }

  override render(): TemplateResult {
    return html`<header class="svc-head"><h1>${text('shop-dashboard')}</h1></header>
      <div class="svc-page">
        ${this.problem ? failure(this.problem, () => void this.#load()) : nothing}
        ${this.figures ? this.#body(this.figures) : this.problem ? nothing : html`<div class="svc-skeleton" aria-busy="true"></div>`}
      </div>`;
  }
}
define('shop-dashboard', ShopDashboard);

export default (_context: RenderContext): Node => document.createElement('shop-dashboard');
