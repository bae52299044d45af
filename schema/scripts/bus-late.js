/*
 * Late bus
 * Tells the families of a route that the bus is late, when somebody publishes { "route": "R3 Civil Lines", "minutes": 20 } to `bus/late`.
 *
 * Settings: { "topics": ["bus/late"], "serviceRoles": ["clerk"] }
 */
export default async ({ message: { route, minutes } }) => {
  if (typeof route !== 'string' || !Number.isInteger(minutes))
    throw new Error('route and minutes are expected');
  const phones = await platform.db.findDistinct('registration', 'guardian_phone', {
    route,
    status: 'active',
  });
  const numbers = phones.filter((phone) => typeof phone === 'string' && phone !== '');
  if (numbers.length > 0) {
    platform.sendSms({
      to: numbers,
      text: `The bus of route ${route} is about ${minutes} minutes late.`,
      category: 'notice',
    });
  }
  return { told: numbers.length };
};
