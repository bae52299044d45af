import { useFormats } from '../language/use-formats';
import { phrase, useTexts } from '../language/use-texts';
import { useViewer } from '../shell/viewer';
import { rupeesInWords } from './rupees-in-words';

/** A receipt as it is stored. */
export interface StoredReceipt {
  readonly receipt_no: string;
  readonly date: string;
  readonly student: { readonly label?: string };
  readonly class: string;
  readonly section: string;
  readonly session: string;
  readonly payment_type: string;
  readonly instrument_no?: string;
  readonly lines: readonly {
    readonly fee_head: string;
    readonly month: string;
    readonly amount: unknown;
    readonly fine?: unknown;
  }[];
  readonly total: unknown;
  readonly collected_by?: { readonly value: string; readonly label?: string };
  readonly status: string;
}

export const WAYS_OF_PAYING: Readonly<Record<string, string>> = {
  cash: phrase('Cash'),
  cheque: phrase('Cheque'),
  card: phrase('Card'),
  neft: phrase('Bank transfer'),
};

interface ReceiptPaperProps {
  readonly receipt: StoredReceipt;
  readonly person: Readonly<Record<string, unknown>>;
}

/** A receipt as it is printed, on A5. */
export function ReceiptPaper({ receipt, person }: ReceiptPaperProps) {
  const t = useTexts();
  const formats = useFormats();
  const { domain, id, name = '' } = useViewer();
  const collector = receipt.collected_by;
  const collectorName = collector?.label ?? (collector?.value === id ? name : '');
  const way = t(WAYS_OF_PAYING[receipt.payment_type] ?? receipt.payment_type);
  const facts = [
    [t('Receipt'), receipt.receipt_no],
    [t('Date'), formats.day(receipt.date)],
    [t('Student'), receipt.student.label ?? String(person.name ?? '')],
    [t('Admission number'), String(person.sequence ?? '')],
    [t('Class'), `${receipt.class} ${receipt.section} (${receipt.session})`],
    [t('Paid by'), [way, receipt.instrument_no].filter(Boolean).join(' ')],
  ] as const;
  return (
    <section className="receipt-paper" aria-label={t('Receipt {number}', { number: receipt.receipt_no })}>
      <h2>{domain.name}</h2>
      <p className="receipt-kind">{t('Fee receipt')}</p>
      <dl>
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <table>
        <thead>
          <tr>
            <th scope="col">{t('Fee')}</th>
            <th scope="col">{t('Month')}</th>
            <th scope="col" className="numeric">
              {t('Amount')}
            </th>
          </tr>
        </thead>
        <tbody>
          {receipt.lines.map(({ fee_head: head, month, amount, fine }) => (
            <tr key={`${head} ${month}`}>
              <td>{Number(fine ?? 0) > 0 ? t('{head} with a fine', { head }) : head}</td>
              <td>{formats.month(month)}</td>
              <td className="numeric">{formats.money(Number(amount) + Number(fine ?? 0))}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colSpan={2}>
              {t('Total')}
            </th>
            <td className="numeric">{formats.money(String(receipt.total))}</td>
          </tr>
        </tfoot>
      </table>
      <p lang="en">{rupeesInWords(Math.round(Number(receipt.total) * 100))}</p>
      <p className="receipt-sign">
        {t('Received by {name}', { name: collectorName })}
        <span>{t('Signature')}</span>
      </p>
    </section>
  );
}
