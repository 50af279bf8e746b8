/** The columns of the two lists. */
import { dateTime, nothing, text, timeAgo, type Column, type Row } from '@svc/web';
import type { Delivery, Endpoint } from './api.ts';
import { eventsText, shortUrl, stateBadge, statusBadge } from './shown.ts';

function column(
  name: string,
  width: number,
  share: number,
  cell: Column['cell'],
  plain: Column['plain'],
  numeric = false,
): Column {
  return { name, title: text(`webhooks-column-${name}`), width, share, cell, plain, numeric, sortable: false };
}

/** Until when a secret or a key pair that was replaced signs, too. */
function oldUntil({ previousSecretExpiresAt, previousKeyPairExpiresAt }: Endpoint): string | undefined {
  const ends = [previousSecretExpiresAt, previousKeyPairExpiresAt].filter((one) => one !== null);
  return ends.sort((one, other) => Date.parse(other) - Date.parse(one))[0];
}

const endpoint = (row: Row) => row as unknown as Endpoint;
const delivery = (row: Row) => row as unknown as Delivery;

/** A column that says how it stands with the row. */
function stateColumn(...parts: Parameters<typeof column>): Column {
  return { ...column(...parts), isState: true };
}

export function endpointColumns(): Column[] {
  const url = (row: Row) => shortUrl(endpoint(row).url);
  return [
    column('address', 240, 2, url, url),
    stateColumn(
      'state',
      130,
      0.8,
      (row) => stateBadge(endpoint(row)),
      (row) => text(endpoint(row).isActive ? 'webhooks-on' : 'webhooks-off'),
    ),
    column(
      'description',
      150,
      1.2,
      (row) => endpoint(row).description,
      (row) => endpoint(row).description,
    ),
    column(
      'events',
      150,
      1.2,
      (row) => eventsText(endpoint(row).events),
      (row) => endpoint(row).events.join(' '),
    ),
    column(
      'secret',
      150,
      0.9,
      (row) => {
        const until = oldUntil(endpoint(row));
        return until ? text('webhooks-old-until', { until: dateTime(until) }) : nothing;
      },
      (row) => oldUntil(endpoint(row)) ?? '',
    ),
    column(
      'owner',
      120,
      0.8,
      (row) => endpoint(row).owner.displayName,
      (row) => endpoint(row).owner.displayName,
    ),
  ];
}

export function deliveryColumns(): Column[] {
  return [
    column(
      'event',
      160,
      1.4,
      (row) => delivery(row).eventType,
      (row) => delivery(row).eventType,
    ),
    stateColumn(
      'status',
      164,
      0.9,
      (row) => statusBadge(delivery(row)),
      (row) => `${delivery(row).status} ${delivery(row).statusCode ?? ''}`,
    ),
    column(
      'time',
      130,
      0.9,
      (row) => timeAgo(delivery(row).time),
      (row) => delivery(row).time,
    ),
    column(
      'endpoint',
      180,
      1.6,
      (row) => shortUrl(delivery(row).url),
      (row) => delivery(row).url,
    ),
    column(
      'attempts',
      92,
      0.6,
      (row) => text('webhooks-attempts-of', { made: delivery(row).attempts, most: delivery(row).maxAttempts }),
      (row) => String(delivery(row).attempts),
      true,
    ),
  ];
}
