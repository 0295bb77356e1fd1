-- What the database account of a worker may do (docs/operations.md): keep the mirror, move actions on, add to the audit.
-- It cannot approve: it writes no account, group, token, review, policy, key or switch, whatever runs on its host.
--
-- Run it as the owner of the tables after each `migrate`, once a role `memoryui_worker` is there:
--     CREATE ROLE memoryui_worker LOGIN PASSWORD '…';
--     psql -d memoryui -f deploy/grants.sql
-- Tables that are not named here, as those of a later version, are closed to it.

BEGIN;

REVOKE ALL ON ALL TABLES IN SCHEMA public FROM memoryui_worker;
GRANT USAGE ON SCHEMA public TO memoryui_worker;
GRANT SELECT ON django_migrations TO memoryui_worker;

-- The mirror, and what belongs to a worker: everything.
GRANT SELECT, INSERT, UPDATE, DELETE ON
    stores_activation, stores_activationitem, stores_activationtext, stores_auditrecord, stores_auditrecordtext, stores_audittarget,
    stores_change, stores_condition, stores_decision, stores_decisiontext, stores_drain, stores_edge, stores_edgetext, stores_event,
    stores_eventtext, stores_eventupdate, stores_facetcount, stores_fault, stores_fileversion, stores_flow, stores_flowtext,
    stores_foreignrecord, stores_foreignrecordtext, stores_graphentity, stores_graphitem, stores_graphitemtext, stores_graphmention,
    stores_graphrelation, stores_graphsource, stores_importrun, stores_measurement, stores_mem0operation, stores_mem0operationtext,
    stores_memorymd, stores_memorymdtext, stores_memorypath, stores_memorypathtext, stores_node, stores_nodesource, stores_nodetext,
    stores_pathevent, stores_preferencefile, stores_preferencefiletext, stores_problem, stores_problemsolution,
    stores_problemsolutiontext, stores_problemtext, stores_profile, stores_profiletext, stores_queuename, stores_queueoperation,
    stores_queueoperationtext, stores_recordfile, stores_recordtree, stores_recordversion, stores_refusedline, stores_sessionevent,
    stores_sessioneventtext, stores_sourcefile, stores_task
TO memoryui_worker;

-- Imports number new rows themselves: the counters of the tables above, and of no other.
DO $$
DECLARE
    counter text;
BEGIN
    FOR counter IN
        SELECT pg_get_serial_sequence(format('public.%I', counted.relname), 'id')
        FROM pg_class counted
            JOIN pg_namespace ON pg_namespace.oid = counted.relnamespace
            JOIN pg_attribute ON pg_attribute.attrelid = counted.oid AND pg_attribute.attname = 'id' AND pg_attribute.attidentity <> ''
        WHERE pg_namespace.nspname = 'public' AND counted.relkind = 'r'
            AND has_table_privilege('memoryui_worker', counted.oid, 'DELETE')
    LOOP
        EXECUTE format('GRANT USAGE, UPDATE ON SEQUENCE %s TO memoryui_worker', counter);
    END LOOP;
END
$$;

-- A worker registers itself and stores; letting a store go is left to an account that may write policies.
GRANT SELECT, INSERT, UPDATE ON stores_store, stores_worker TO memoryui_worker;

-- Actions: it may propose what it planned, and move on what people decided. Neither content nor digest of an action can be changed.
GRANT SELECT, INSERT ON stores_actiontarget, stores_keptbytes TO memoryui_worker;
GRANT SELECT, INSERT ON stores_lifecycleaction TO memoryui_worker;
GRANT UPDATE (
    state, revision, status, reason_code, message, attempts, claimed_by, lease_until, closed_at, applied_at, applied_by, change_id,
    receipt, is_sample
) ON stores_lifecycleaction TO memoryui_worker;

-- Decisions: it reads them, and notes that one was used. Withdrawing, adding or changing one is not its.
GRANT SELECT ON stores_review TO memoryui_worker;
GRANT UPDATE (spent_at) ON stores_review TO memoryui_worker;

-- The audit: added to, never changed.
GRANT SELECT, INSERT ON stores_auditevent TO memoryui_worker;
GRANT SELECT, INSERT, UPDATE ON stores_audithead TO memoryui_worker;

-- Messages that it sends.
GRANT SELECT, INSERT, UPDATE, DELETE ON stores_notice TO memoryui_worker;

-- What people noted beside records stays theirs; an import finds again where the record stands.
GRANT UPDATE (record_id, ordinal) ON stores_recordnote TO memoryui_worker;

-- What it goes by, and cannot change. It reads accounts to know who may still review; their passwords are kept as Argon2 hashes.
GRANT SELECT ON
    auth_group, stores_eventversion, stores_faultacknowledgement, stores_installation, stores_recordnote, stores_reviewpolicy,
    stores_signingkey, stores_store_groups, stores_user, stores_user_groups
TO memoryui_worker;

-- Nothing at all of: auth_group_permissions, auth_permission, django_admin_log, django_content_type, django_session, axes_*,
-- stores_actioncomment, stores_apitoken, stores_savedview, stores_snooze, stores_user_user_permissions.

COMMIT;
