/** Takes a payment: finds the student, shows what is owed, records one receipt, prints it, rolls it back. */

import { Badge, Card, Group, Stack, Table, Text } from '@mantine/core';
import { useSet } from '@mantine/hooks';
import { useState } from 'react';
import {
  CashOfCollectors,
  DuesOfStudent,
  type PaymentType,
  ReceiptsOfStudent,
  ReceiveFee,
  StudentsWhoPay,
} from '../../../generated/portal/fees/fees';
import { ActButtons } from '../acts/act-buttons';
import { useAskAnew, useOperation, useWrite } from '../gateway/use-gateway';
import { formats, phrase, t, useToday } from '../language/texts';
import { parseTypedNumber } from '../language/typed-number';
import { RecordSelect } from '../records/reference-picker';
import { DayInput } from '../shell/day-input';
import { FactsTable } from '../shell/link-card';
import { ActionsHead, choicesOf, ListTable } from '../shell/list-table';
import { useAddress } from '../shell/page-filter';
import { EmptyState, LoadingState, lazyPart, PageFrame, ProblemState } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { CheckField, PickField, TextField } from '../shell/text-field';

/** Loaded with the first receipt. */
const PrintOfRecord = lazyPart(async () => (await import('../prints/print-document')).PrintOfRecord, 6);

/** The parts of a receipt that the list shows. */
interface ListedReceipt {
  readonly id: string;
  readonly receipt_no: string;
  readonly date: string;
  readonly payment_type: string;
  readonly total: unknown;
  readonly status: string;
}

const WAYS_OF_PAYING: Readonly<Record<string, string>> = {
  cash: phrase('Cash'),
  cheque: phrase('Cheque'),
  card: phrase('Card'),
  neft: phrase('Bank transfer'),
};

const STUDENTS = { collection: 'registration', field: '_id' };

type Data = Readonly<Record<string, unknown>>;

export function ReceiveFeePage() {
  const [{ student, receipt }, setAddress] = useAddress({ student: '', receipt: '' });
  return (
    <PageFrame
      title={t('Receive fee')}
      description={t('Find the student, enter what is paid, and print the receipt.')}
    >
      <Stack>
        <div className="no-print">
          <RecordSelect
            common={{ label: t('Student'), placeholder: t('Name, admission number or phone'), maw: 620 }}
            named={STUDENTS}
            value={student}
            onChange={(id) => setAddress({ student: id, receipt: '' })}
          />
        </div>
        {student === '' ? (
          <CashToday />
        ) : (
          <Payment
            key={student}
            studentId={student}
            receiptNo={receipt}
            onReceipt={(receiptNo) => setAddress({ receipt: receiptNo })}
          />
        )}
      </Stack>
    </PageFrame>
  );
}

function describeStudent(data: Data): string {
  const place = [data.class, data.section].filter(Boolean).join(' ');
  return [data.name, place, data.sequence, data.father_name, data.guardian_phone].filter(Boolean).join(' · ');
}

/** The cash received today, by collector. */
function CashToday() {
  const { data } = useOperation(CashOfCollectors, { day: useToday() });
  const collectors = data?.dailyFeeCollection.totals.collectors ?? [];
  if (collectors.length === 0) return <EmptyState icon="inbox" title={t('No cash was received today')} />;
  return (
    <Card withBorder maw={620}>
      <Text fw={600} size="md">
        {t('Cash received today')}
      </Text>
      <FactsTable
        facts={collectors.map(({ collectorId, collector, receipts: count, amount }) => [
          collector ?? collectorId ?? '–',
          [
            t('{count, plural, one {# receipt} other {# receipts}}', { count }),
            formats.money(String(amount)),
          ].join(' · '),
        ])}
      />
    </Card>
  );
}

interface PaymentProps {
  readonly studentId: string;
  readonly receiptNo: string;
  onReceipt(receiptNo: string): void;
}

function Payment({ studentId, receiptNo, onReceipt }: PaymentProps) {
  const askAnew = useAskAnew();
  const dues = useOperation(DuesOfStudent, { studentId });
  const receipts = useOperation(ReceiptsOfStudent, { where: { student: { id: { in: [studentId] } } } });
  const who = useOperation(StudentsWhoPay, { where: { _id: { equals: studentId } } });
  const problem = dues.error ?? receipts.error ?? who.error;
  if (problem) return <ProblemState problem={problem} />;
  const person = who.data?.records.nodes[0]?.data as Data | undefined;
  if (!dues.data || !receipts.data || !who.data) return <LoadingState />;
  if (!person) return <EmptyState icon="users" title={t('Nothing found')} />;
  const taken = receipts.data.records.nodes.map(
    ({ id, data }) => ({ ...(data as Data), id }) as ListedReceipt,
  );
  const shown = taken.find((one) => one.receipt_no === receiptNo);
  return (
    <>
      <Text fw={600} className="no-print" size="md">
        {describeStudent(person)}
      </Text>
      {shown && (
        <>
          <PrintOfRecord name="receipt" collection="fee_receipt" id={shown.id} />
          <Group className="no-print">
            <TextButton label={t('Print receipt')} isMain onClick={() => print()} />
            <TextButton label={t('Close')} onClick={() => onReceipt('')} />
          </Group>
        </>
      )}
      {!shown && (
        <PaymentForm
          studentId={studentId}
          dues={dues.data.studentDues}
          onPaid={async (next) => {
            await askAnew([DuesOfStudent, ReceiptsOfStudent, CashOfCollectors]);
            onReceipt(next);
          }}
        />
      )}
      {taken.length > 0 && (
        <Card withBorder className="no-print">
          <Text fw={600} size="md">
            {t('Last receipts')}
          </Text>
          <ListTable<ListedReceipt>
            label={t('Last receipts')}
            rows={taken}
            columns={[
              [t('Number'), ({ receipt_no: number }) => number],
              [t('Day'), ({ date }) => formats.day(date)],
              [t('Paid by'), ({ payment_type: way }) => t(WAYS_OF_PAYING[way] ?? way)],
              [t('Amount'), ({ total }) => formats.money(String(total)), 'numeric'],
              [
                <ActionsHead key="actions" />,
                ({ receipt_no: number, status }) =>
                  status === 'rolled_back' ? (
                    <Badge color="red" variant="outline">
                      {t('Rolled back')}
                    </Badge>
                  ) : (
                    <Group gap={4} wrap="nowrap">
                      <TextButton
                        label={t('Show receipt {number}', { number })}
                        size="compact-sm"
                        onClick={() => onReceipt(number)}
                      />
                      <ActButtons
                        place={{ record: 'fee_receipt' }}
                        only="roll-back-receipt"
                        subject={{ receipt_no: number, status }}
                        size="compact-sm"
                        about={number}
                        onDone={() => onReceipt('')}
                      />
                    </Group>
                  ),
              ],
            ]}
          />
        </Card>
      )}
    </>
  );
}

interface Due {
  readonly month: string;
  readonly feeHead: string;
  readonly dueDate: string;
  readonly open: unknown;
}

interface PaymentFormProps {
  readonly studentId: string;
  readonly dues: readonly Due[];
  onPaid(receiptNo: string): Promise<void>;
}

function PaymentForm({ studentId, dues, onPaid }: PaymentFormProps) {
  const today = useToday();
  const { mutate, isPending, error } = useWrite(ReceiveFee);
  const [typed, setTyped] = useState('');
  const chosen = useSet<number>();
  const [way, setWay] = useState('cash');
  const [instrument, setInstrument] = useState('');
  const [bank, setBank] = useState('');
  const [instrumentDay, setInstrumentDay] = useState('');
  if (dues.length === 0) return <EmptyState icon="check" title={t('This student owes nothing')} />;
  const lines = dues.filter((_due, index) => chosen.has(index));
  const sumOf = (some: readonly Due[]) =>
    some.reduce((sum, { open }) => sum + Math.round(Number(open) * 100), 0) / 100;
  const overdue = dues.filter(({ dueDate }) => dueDate < today);
  const amount = lines.length > 0 ? String(sumOf(lines)) : parseTypedNumber(typed, '₹');
  const isNumbered = way !== 'cash';
  const isReady = amount !== undefined && Number(amount) > 0 && (!isNumbered || instrument.trim() !== '');
  const pay = () => {
    const receipt = {
      studentId,
      paymentType: way.toUpperCase() as PaymentType,
      ...(isNumbered && { instrumentNo: instrument.trim() }),
      ...(isNumbered && instrumentDay !== '' && { instrumentDate: instrumentDay }),
      ...(way === 'cheque' && bank.trim() !== '' && { instrumentBank: bank.trim() }),
      ...(lines.length > 0
        ? { lines: lines.map(({ feeHead, month, open }) => ({ feeHead, month, amount: String(open) })) }
        : { amount }),
    };
    mutate(
      { receipt },
      { onSuccess: ({ answer: { recordReceipt } }) => recordReceipt && onPaid(recordReceipt.receiptNo) },
    );
  };
  return (
    <Card withBorder>
      <Group justify="space-between">
        <Text fw={600} size="md">
          {t('Overdue: {amount}', { amount: formats.money(sumOf(overdue)) })}
        </Text>
        <Text c="dimmed" size="md">
          {t('All dues: {amount}', { amount: formats.money(sumOf(dues)) })}
        </Text>
      </Group>
      <Text c="dimmed">
        {lines.length > 0 ? t('Pays the chosen lines') : t('Pays the oldest dues first')}
      </Text>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !isPending) pay();
        }}
      >
        <Group align="flex-end" my="sm">
          <TextField
            label={t('Amount')}
            inputMode="decimal"
            value={lines.length > 0 ? String(sumOf(lines)) : typed}
            readOnly={lines.length > 0}
            onChange={setTyped}
          />
          <PickField label={t('Paid by')} data={choicesOf(WAYS_OF_PAYING)} value={way} onChange={setWay} />
          {isNumbered && (
            <TextField
              label={t('Number of the cheque, slip or transfer')}
              value={instrument}
              required
              onChange={setInstrument}
            />
          )}
          {isNumbered && <DayInput label={t('Its date')} value={instrumentDay} onChange={setInstrumentDay} />}
          {way === 'cheque' && <TextField label={t('Bank')} value={bank} onChange={setBank} />}
          <TextButton
            label={isReady ? t('Receive {amount}', { amount: formats.money(amount ?? 0) }) : t('Receive')}
            isMain
            type="submit"
            loading={isPending}
            disabled={!isReady}
          />
        </Group>
      </form>
      {error && <ProblemState problem={error} />}
      <Table.ScrollContainer minWidth={320}>
        <Table aria-label={t('What the student owes')} verticalSpacing={4}>
          <Table.Tbody>
            {dues.map(({ month, feeHead, dueDate, open }, index) => (
              <Table.Tr key={`${month} ${feeHead}`}>
                <Table.Td>
                  <CheckField
                    size="md"
                    label={`${feeHead} · ${formats.month(month)}`}
                    checked={chosen.has(index)}
                    onChange={(isOn) => (isOn ? chosen.add(index) : chosen.delete(index))}
                  />
                </Table.Td>
                <Table.Td>{t('until {day}', { day: formats.day(dueDate) })}</Table.Td>
                <Table.Td className="numeric">{formats.money(String(open))}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Card>
  );
}
