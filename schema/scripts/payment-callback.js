/*
 * Payments reported by the provider
 * POST /x/payment-callback from Razorpay, by anybody whose body is signed: a payment becomes a task for the accountant, once however often it is reported.
 * The secret that the provider signs with is kept encrypted in the property `razorpaySecret` (platform.encrypt).
 *
 * Settings: { "endpoint": { "access": "public", "methods": ["POST"] }, "serviceRoles": ["admin"] }
 */
export default async ({ headers, rawBody, body }) => {
  const secret = platform.decrypt(platform.property('razorpaySecret'));
  const expected = platform.crypto.hmac('sha256', secret, rawBody ?? '');
  if (!platform.crypto.isEqual(expected, headers['x-razorpay-signature'] ?? '')) {
    return { status: 401, body: { error: 'The signature does not match the body.' } };
  }
  const payment = body.event === 'payment.captured' ? body.payload?.payment?.entity : undefined;
  if (payment === undefined) return { status: 200, body: { noted: false } };
  await platform.db.update(
    'task',
    { _id: `pay-${payment.id}` },
    {
      $setOnInsert: {
        name: `Receipt for ${payment.notes?.sequence}: ${payment.id}`,
        amount: payment.amount / 100,
      },
    },
    { upsert: true },
  );
  return { status: 200, body: { noted: true } };
};
