/** What TypeGraphQL is talked into, once for all types that are known only at run time. */
import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { type GraphQLSchema, graphql, printSchema } from 'graphql';
import { Args, buildSchemaSync, Ctx, getMetadataStorage, Info, Int, Query, Resolver } from 'type-graphql';
import { argumentsType, field, inputType, objectType } from '../../../src/base/scalars/declared-type.js';
import {
  createResolverClass,
  type FieldCall,
  type RunTimeField,
  sortRootFields,
  withRunTimeTypes,
} from '../../../src/gateway/resolvers/run-time-types.js';

/** A schema of two queries, which note what they were given. */
function buildSchema(given: unknown[]): GraphQLSchema {
  return withRunTimeTypes(() => {
    const size = inputType('SizeInput', 'How large.');
    field(size, 'cm', () => Int, { description: 'In centimetres.' });
    const box = objectType('Box', 'A box.');
    field(box, 'name', () => String, { description: 'Its name.' });
    const boxArguments = argumentsType({
      size: { type: size, nullable: true, description: 'Of this size.' },
      sizes: { type: [size], nullable: true, description: 'Of one of these.' },
      colour: undefined,
      first: { type: Int, defaultValue: 5, description: 'At most so many.' },
    });

    @Resolver()
    class SecondResolver {
      @Query(() => box, { description: 'Asked by nothing.' })
      second(): object {
        return { name: 'second' };
      }
    }

    @Resolver()
    class FirstResolver {
      @Query(() => box, { description: 'Asked by many arguments.' })
      first(@Ctx() context: object, @Args(() => boxArguments) args: object, @Info() info: object): object {
        given.push(args, context, 'fieldName' in info);
        return { name: 'first' };
      }
    }

    const classes = [FirstResolver, SecondResolver] as const;
    sortRootFields(classes);
    return buildSchemaSync({ resolvers: classes, validate: false });
  });
}

const instancesOf = (values: readonly unknown[]) =>
  values
    .filter((value) => typeof value === 'object' && value !== null)
    .map((value) => Object.getPrototypeOf(value)?.constructor.name ?? 'Object');

describe('types that are made at run time', () => {
  it('are shown in the order in which fields, arguments and classes are written down', () => {
    const printed = printSchema(buildSchema([])).replace(/\s*"""[\s\S]*?"""\n/g, '\n');
    expect(printed.replace(/\s+/g, ' ')).toContain(
      'type Query { first( size: SizeInput sizes: [SizeInput!] first: Int! = 5 ): Box! second: Box! }',
    );
  });

  it('reach a method as plain values, lists and defaults too', async () => {
    const given: unknown[] = [];
    const { errors, data } = await graphql({
      schema: buildSchema(given),
      source: '{ first(size: { cm: 1 }, sizes: [{ cm: 2 }]) { name } second { name } }',
      contextValue: { caller: 'me' },
    });
    expect(errors).toBeUndefined();
    expect(data).toEqual({ first: { name: 'first' }, second: { name: 'second' } });
    const [args, context, hasInfo] = given;
    expect(args).toEqual({ size: { cm: 1 }, sizes: [{ cm: 2 }], first: 5 });
    expect([context, hasInfo]).toEqual([{ caller: 'me' }, true]);
    expect(instancesOf([args, (args as { size: unknown }).size])).toEqual(['Object', 'Object']);
  });

  it('leave nothing in the storage of the process, not even when the build fails', () => {
    const sizes = () =>
      Object.entries(getMetadataStorage()).flatMap(([name, list]) =>
        Array.isArray(list) ? [[name, list.length]] : [],
      );
    const before = sizes();
    buildSchema([]);
    const failing = () =>
      withRunTimeTypes(() => {
        objectType('Lost', 'Made in vain.');
        throw new Error('the schema cannot be built');
      });
    expect(failing).toThrow('the schema cannot be built');
    expect(sizes()).toEqual(before);
  });

  it('may be fields whose methods are made with them', async () => {
    const asked: unknown[] = [];
    const schema = withRunTimeTypes(() => {
      const box = objectType('Box', 'A box.');
      field(box, 'name', () => String, { description: 'Its name.' });
      const query: RunTimeField = {
        kind: 'query',
        name: 'box',
        description: 'A box by its name.',
        type: box,
        arguments: { name: { type: String, description: 'The name.' } },
        decorators: [(_target, key) => void asked.push(key)],
        run: ({ name }: { readonly name: string }, { context, info }: FieldCall) => {
          asked.push(context, info.fieldName);
          return { name };
        },
      };
      const size: RunTimeField = {
        kind: 'member',
        name: 'size',
        description: 'The length of its name.',
        type: Int,
        run: (_args: object, { source }: FieldCall<{ readonly name: string }>) => source.name.length,
      };
      const resolvers = [createResolverClass([query]), createResolverClass([size], box)] as const;
      return buildSchemaSync({ resolvers, validate: false });
    });
    const contextValue = { caller: 'me' };
    const answer = await graphql({ schema, source: '{ box(name: "red") { name size } }', contextValue });
    expect(answer).toEqual({ data: { box: { name: 'red', size: 3 } } });
    expect(asked).toEqual(['box', contextValue, 'box']);
  });
});
