-- What a request did that changed a record: the name of its GraphQL operation, or the template of its route. Null: from before this, or
-- by no request.
alter table audit_entries add column request_operation text;
