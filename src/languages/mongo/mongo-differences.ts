/**
 * Where queries, updates and pipelines here mean something else than in MongoDB, or than in mingo, the
 * JavaScript implementation they are tested against. Anything that is not on this list is the same, and the
 * tests on generated documents hold us to it.
 */
export interface MongoDifference {
  readonly name: string;
  readonly here: string;
  readonly elsewhere: string;
}

export const MONGO_DIFFERENCES: readonly MongoDifference[] = [
  {
    name: 'exact numbers',
    here: 'sums, products and averages of stored numbers are exact: 0.1 + 0.2 is 0.3',
    elsewhere: 'floating point: 0.30000000000000004, unless a number was stored as Decimal128',
  },
  {
    name: 'no dates',
    here: 'records are JSON: an instant is its UTC text, compared as text; an operand for a declared datetime is read as it would be stored',
    elsewhere: 'a Date is a type of its own',
  },
  {
    name: 'arithmetic on what is no number',
    here: 'null, so that one "N/A" does not fail a pipeline; $size of what is no list and a division by 0 too',
    elsewhere: 'an error',
  },
  {
    name: 'remainders of what is no number',
    here: '$mod finds numbers alone, and cuts off what is after the point, as MongoDB does',
    elsewhere: 'mingo takes the remainder of null and texts as JavaScript does',
  },
  {
    name: 'lists in comparisons',
    here: 'expressions compare a list as a whole, as in MongoDB: { $eq: [["a"], "a"] } is false',
    elsewhere: 'mingo compares its elements too',
  },
  {
    name: 'parts of one document',
    here: 'what $unwind makes of a document are documents of their own, as in MongoDB, where the database makes them',
    elsewhere: "mingo's share their objects: $unset of a nested field in one takes it from the others",
  },
  {
    name: 'missing in a sort',
    here: '$sort, the sort of find, update and findAndModify and what findDistinct lists have null and missing last in both directions, in the order of the next key, as every order of the service; in a list every element counts as the list does: lists are ordered as a whole',
    elsewhere:
      'MongoDB and mingo put null and missing first ascending and last descending; MongoDB orders a list by its least or greatest element',
  },
  {
    name: 'counts of nothing',
    here: '$count of no document makes none, and $bucket none for an empty bucket, as in MongoDB',
    elsewhere: 'mingo makes one with 0; and it puts a value on a boundary into the bucket below',
  },
  {
    name: 'missing in a list',
    here: '$push and $addToSet leave out what is missing, as MongoDB does',
    elsewhere: 'mingo takes it for null',
  },
  {
    name: 'unwinding what is no list',
    here: '$unwind takes any value but null for a list of one, an empty text and an empty object too, as MongoDB does',
    elsewhere: 'mingo leaves documents with an empty text or object out',
  },
  {
    name: 'new lists',
    here: '$push slices and sorts a list it makes, as MongoDB does',
    elsewhere: 'mingo keeps all of it',
  },
  {
    name: 'sets with a value twice',
    here: '$addToSet adds what is not in the list and leaves the rest alone, as MongoDB does',
    elsewhere: 'mingo adds nothing to a list that holds a value twice, or takes one of the two away',
  },
  {
    name: 'positional elements',
    here: 'the positional `$`, `$[]` and `$[name]` of updates are refused: a step by a number names an element',
    elsewhere: 'they name the elements a query found',
  },
  {
    name: 'order of what is changed',
    here: 'the sort of update and findAndModify orders values of different types as the lists of GraphQL do: texts, numbers, false, true; an empty list counts as missing',
    elsewhere: 'numbers before texts',
  },
  {
    name: 'looking up nothing',
    here: 'a local field that is missing or null finds nothing in a $lookup',
    elsewhere: 'it finds the records whose foreign field is missing or null',
  },
  {
    name: 'a new root that is no object',
    here: '$replaceRoot leaves the document out',
    elsewhere: 'an error',
  },
  {
    name: 'types in a list',
    here: '$type looks at the elements of a list too, as MongoDB does',
    elsewhere: 'mingo looks at the list alone',
  },
  {
    name: 'comparing in expressions',
    here: '$eq, $lt and the like in an expression compare the values as they are, across types, as MongoDB does; missing is not null',
    elsewhere: 'mingo looks into lists, compares within a type alone, and takes missing for null',
  },
  {
    name: 'order without a sort',
    here: 'records come in the order of _id, which for ids made here is that of their creation; groups come in the order of their keys',
    elsewhere: 'in the order they are stored; groups in any',
  },
  {
    name: 'letters beyond ASCII',
    here: '$toLower and $toUpper change ASCII letters in the database, as MongoDB does',
    elsewhere: 'mingo changes all letters',
  },
  {
    name: 'fields declared as no list',
    here: 'are not looked into by a query: a list that old data holds there is found as a whole',
    elsewhere: 'every value is looked into',
  },
  {
    name: 'objects by their members',
    here: 'two objects are equal when their members are, in any order',
    elsewhere: 'MongoDB compares the order of the members too',
  },
];
