using System.Collections.Generic;

namespace Lorekeep
{
    /// <summary>The requests that make the storages of a session as they are now.</summary>
    sealed class RememberedStorages
    {
        readonly Dictionary<string, Dictionary<string, object>> byName = new Dictionary<string, Dictionary<string, object>>();
        readonly List<string> order = new List<string>();

        /// <summary>The same values as Json reads them: later changes by the caller are not seen.</summary>
        public static Dictionary<string, object> CopyOf(Dictionary<string, object> fields)
        {
            return (Dictionary<string, object>)Json.Parse(Json.Write(fields));
        }

        public List<Dictionary<string, object>> All()
        {
            return order.ConvertAll(name => new Dictionary<string, object>(byName[name]));
        }

        /// <summary>A request was served.</summary>
        public void Note(string type, Dictionary<string, object> fields)
        {
            fields.TryGetValue("name", out var given);
            if (!(given is string name)) return;
            byName.TryGetValue(name, out var made);
            if (type == "CreateEmbeddedStringStorageRequest")
            {
                order.Add(name);
                byName[name] = fields;
            }
            else if (type == "DestroyEmbeddedStringStorageRequest")
            {
                order.Remove(name);
                byName.Remove(name);
            }
            else if (made != null && !made.ContainsKey("config_path") && (type == "UpdateEmbeddedStringStorageRequest" || type == "ForgetEmbeddedStringStorageRequest"))
            {
                byName[name] = Changed(made, fields);
            }
        }

        static Dictionary<string, object> Changed(Dictionary<string, object> made, Dictionary<string, object> change)
        {
            // A replaced record goes to the end, as in the storage.
            var records = new List<object>();
            foreach (var text in ListOf(made, "strings"))
            {
                var id = records.Count.ToString(System.Globalization.CultureInfo.InvariantCulture);
                records.Add(new Dictionary<string, object> { ["id"] = id, ["text"] = text });
            }
            records.AddRange(ListOf(made, "records"));
            var gone = new HashSet<string>();
            foreach (var field in new[] { "remove", "ids" })
                foreach (var id in ListOf(change, field)) gone.Add((string)id);
            foreach (var field in new[] { "add", "replace" })
                foreach (var record in ListOf(change, field)) gone.Add(IdOf(record));
            records.RemoveAll(record => gone.Contains(IdOf(record)));
            records.AddRange(ListOf(change, "add"));
            records.AddRange(ListOf(change, "replace"));
            var changed = new Dictionary<string, object>(made) { ["records"] = records };
            changed.Remove("strings");
            return changed;
        }

        static string IdOf(object record)
        {
            return (string)((Dictionary<string, object>)record)["id"];
        }

        static List<object> ListOf(Dictionary<string, object> fields, string name)
        {
            return fields.TryGetValue(name, out var value) ? (List<object>)value : new List<object>();
        }
    }
}
