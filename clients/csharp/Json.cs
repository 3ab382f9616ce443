using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Lorekeep
{
    /// <summary>
    /// JSON as Dictionary&lt;string, object&gt;, List&lt;object&gt;, string, long, double, bool and null. Integers of 64 bits are exact.
    /// </summary>
    public static class Json
    {
        const int MaxDepth = 128;

        /// <summary>Parses one value (RFC 8259). Throws FormatException.</summary>
        public static object Parse(string text)
        {
            var parser = new Parser(text);
            return parser.Whole();
        }

        /// <summary>Writes a value; also arrays, dictionaries and objects of this client. Throws ArgumentException.</summary>
        public static string Write(object value)
        {
            var to = new StringBuilder();
            Write(to, value, 0);
            return to.ToString();
        }

        static void Write(StringBuilder to, object value, int depth)
        {
            if (depth > MaxDepth) throw new ArgumentException("a value that is nested too deeply");
            // Debian's compiler has no patterns in switch.
            if (value == null) to.Append("null");
            else if (value is string text) WriteString(to, text);
            else if (value is bool flag) to.Append(flag ? "true" : "false");
            else if (value is double || value is float) WriteNumber(to, Convert.ToDouble(value, CultureInfo.InvariantCulture));
            else if (value is JsonView view) Write(to, view.Json, depth);
            else if (value is JsonFields fields) Write(to, fields.ToJson(), depth);
            else if (value is IDictionary<string, object> members) WriteObject(to, members, depth);
            else if (value is System.Collections.IEnumerable items) WriteArray(to, items, depth);
            else if (value is int || value is long || value is uint || value is ulong || value is short || value is byte)
                to.Append(((IFormattable)value).ToString(null, CultureInfo.InvariantCulture));
            else throw new ArgumentException("JSON has no " + value.GetType());
        }

        static void WriteNumber(StringBuilder to, double number)
        {
            if (double.IsNaN(number) || double.IsInfinity(number)) throw new ArgumentException("JSON has no " + number);
            to.Append(number.ToString("R", CultureInfo.InvariantCulture));
        }

        static void WriteObject(StringBuilder to, IDictionary<string, object> members, int depth)
        {
            var separator = '{';
            foreach (var member in members)
            {
                to.Append(separator);
                WriteString(to, member.Key);
                to.Append(':');
                Write(to, member.Value, depth + 1);
                separator = ',';
            }
            to.Append(separator == '{' ? "{}" : "}");
        }

        static void WriteArray(StringBuilder to, System.Collections.IEnumerable items, int depth)
        {
            var separator = '[';
            foreach (var item in items)
            {
                to.Append(separator);
                Write(to, item, depth + 1);
                separator = ',';
            }
            to.Append(separator == '[' ? "[]" : "]");
        }

        static void WriteString(StringBuilder to, string text)
        {
            to.Append('"');
            foreach (var c in text)
            {
                if (c == '"' || c == '\\') to.Append('\\').Append(c);
                else if (c < ' ') to.Append("\\u").Append(((int)c).ToString("x4", CultureInfo.InvariantCulture));
                else to.Append(c);
            }
            to.Append('"');
        }

        sealed class Parser
        {
            readonly string text;
            int at;

            public Parser(string text)
            {
                this.text = text;
            }

            public object Whole()
            {
                var value = Value(0);
                SkipSpace();
                if (at < text.Length) throw Broken();
                return value;
            }

            object Value(int depth)
            {
                if (depth > MaxDepth) throw new FormatException("JSON that is nested too deeply");
                SkipSpace();
                switch (Peek())
                {
                    case '{':
                        return Members(depth);
                    case '[':
                        return Items(depth);
                    case '"':
                        return Text();
                    case 't':
                        return Word("true", true);
                    case 'f':
                        return Word("false", false);
                    case 'n':
                        return Word("null", null);
                    default:
                        return Number();
                }
            }

            object Members(int depth)
            {
                var members = new Dictionary<string, object>(StringComparer.Ordinal);
                at++;
                SkipSpace();
                if (Take('}')) return members;
                do
                {
                    SkipSpace();
                    if (Peek() != '"') throw Broken();
                    var key = Text();
                    SkipSpace();
                    Expect(':');
                    members[key] = Value(depth + 1);
                    SkipSpace();
                }
                while (Take(','));
                Expect('}');
                return members;
            }

            object Items(int depth)
            {
                var items = new List<object>();
                at++;
                SkipSpace();
                if (Take(']')) return items;
                do
                {
                    items.Add(Value(depth + 1));
                    SkipSpace();
                }
                while (Take(','));
                Expect(']');
                return items;
            }

            string Text()
            {
                var begin = ++at;
                StringBuilder parts = null;
                for (;; at++)
                {
                    var c = Peek();
                    if (c < ' ') throw Broken();
                    if (c == '"') break;
                    if (c != '\\') continue;
                    parts = (parts ?? new StringBuilder()).Append(text, begin, at - begin);
                    at++;
                    parts.Append(Escaped());
                    begin = at + 1;
                }
                var last = text.Substring(begin, at++ - begin);
                return parts == null ? last : parts.Append(last).ToString();
            }

            char Escaped()
            {
                switch (Peek())
                {
                    case '"':
                    case '\\':
                    case '/':
                        return text[at];
                    case 'b':
                        return '\b';
                    case 'f':
                        return '\f';
                    case 'n':
                        return '\n';
                    case 'r':
                        return '\r';
                    case 't':
                        return '\t';
                    case 'u':
                        var code = 0;
                        for (var i = 1; i <= 4; i++) code = code * 16 + Hex(at + i);
                        at += 4;
                        return (char)code;
                    default:
                        throw Broken();
                }
            }

            int Hex(int place)
            {
                var c = place < text.Length ? text[place] : ' ';
                if (c >= '0' && c <= '9') return c - '0';
                if (c >= 'a' && c <= 'f') return c - 'a' + 10;
                if (c >= 'A' && c <= 'F') return c - 'A' + 10;
                throw Broken();
            }

            object Number()
            {
                var begin = at;
                Take('-');
                if (!Take('0')) Digits();
                var isInteger = true;
                if (Take('.'))
                {
                    Digits();
                    isInteger = false;
                }
                if (Take('e') || Take('E'))
                {
                    if (!Take('+')) Take('-');
                    Digits();
                    isInteger = false;
                }
                var number = text.Substring(begin, at - begin);
                if (isInteger && long.TryParse(number, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var exact)) return exact;
                // Mono and .NET Framework throw for numbers that are too large.
                return double.TryParse(number, NumberStyles.Float, CultureInfo.InvariantCulture, out var near) ? near
                    : number[0] == '-' ? double.MinValue : double.MaxValue;
            }

            void Digits()
            {
                if (Peek() < '0' || Peek() > '9') throw Broken();
                while (Peek() >= '0' && Peek() <= '9') at++;
            }

            object Word(string word, object value)
            {
                if (string.CompareOrdinal(text, at, word, 0, word.Length) != 0) throw Broken();
                at += word.Length;
                return value;
            }

            void SkipSpace()
            {
                while (at < text.Length && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) at++;
            }

            char Peek()
            {
                return at < text.Length ? text[at] : '\0';
            }

            bool Take(char c)
            {
                if (Peek() != c) return false;
                at++;
                return true;
            }

            void Expect(char c)
            {
                if (!Take(c)) throw Broken();
            }

            FormatException Broken()
            {
                return new FormatException("no JSON at character " + at);
            }
        }
    }

    /// <summary>A frame, or an object in one, with a property for each field. Json also has fields of newer servers.</summary>
    public abstract class JsonView
    {
        public Dictionary<string, object> Json { get; }

        protected JsonView(Dictionary<string, object> json)
        {
            Json = json;
        }

        protected object GetValue(string field)
        {
            return Json.TryGetValue(field, out var value) ? value : null;
        }

        protected string GetText(string field)
        {
            return GetValue(field) as string;
        }

        protected long? GetInteger(string field)
        {
            return GetValue(field) as long?;
        }

        protected double? GetNumber(string field)
        {
            var value = GetValue(field);
            return value is long integer ? integer : value as double?;
        }

        protected bool? GetFlag(string field)
        {
            return GetValue(field) as bool?;
        }

        protected T GetView<T>(string field, Func<Dictionary<string, object>, T> make) where T : class
        {
            return GetValue(field) is Dictionary<string, object> json ? make(json) : null;
        }

        /// <summary>Null if the field is absent.</summary>
        protected List<T> GetList<T>(string field, Func<object, T> make)
        {
            return GetValue(field) is List<object> items ? items.ConvertAll(item => make(item)) : null;
        }

        protected static Dictionary<string, object> ObjectOf(object item)
        {
            return item as Dictionary<string, object> ?? new Dictionary<string, object>();
        }
    }

    /// <summary>Fields of a request or of an object in one. Those that are null are absent.</summary>
    public abstract class JsonFields
    {
        internal abstract Dictionary<string, object> ToJson();

        internal static void Put(Dictionary<string, object> to, string field, object value)
        {
            if (value != null) to[field] = value;
        }
    }
}
